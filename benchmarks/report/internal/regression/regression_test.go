package regression_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/benchmarks/report/internal/regression"
	"github.com/kubetyped/informer/benchmarks/report/internal/results"
)

func of(unit string, values ...float64) *results.Results {
	return &results.Results{Series: []*results.Series{{Name: "Get", Side: "typed", Metrics: []results.Metric{{Unit: unit, Values: values}}}}}
}

func TestJudge(t *testing.T) {
	for _, test := range []struct {
		name        string
		before, now *results.Results
		control     float64
		worse, sure bool
	}{
		{"equal", of("sec/op", 1, 2, 3), of("sec/op", 1, 2, 3), 1, false, false},
		{"slower in each round", of("sec/op", 1, 2, 3), of("sec/op", 1.2, 2.4, 3.6), 1, true, true},
		{"slower in most rounds", of("sec/op", 1, 2, 3), of("sec/op", 1.2, 2.4, 3), 1, true, false},
		{"slower, as the control", of("sec/op", 1, 2, 3), of("sec/op", 1.2, 2.4, 3.6), 1.2, false, false},
		{"faster, unlike the control", of("sec/op", 1, 2, 3), of("sec/op", 1.2, 2.4, 3.6), 0.5, true, true},
		{"processor time", of("cpu-sec/op", 1, 1, 1), of("cpu-sec/op", 2, 2, 2), 1, true, true},
		{"more allocations", of("allocs/op", 0, 0, 0), of("allocs/op", 1, 1, 1), 1, true, true},
		{"allocations of the first operation", of("allocs/op", 0, 0, 0), of("allocs/op", 0, 0, 1), 1, false, false},
		{"shares of allocations", of("B/op", 43, 40, 45), of("B/op", 50, 44, 49), 1, false, false},
		{"more bytes", of("B/op", 64, 64, 64), of("B/op", 96, 96, 96), 1, true, true},
	} {
		rows := regression.Judge(test.before, test.now, test.control)
		require.Len(t, rows, 1, test.name)
		assert.Equal(t, test.worse, rows[0].Worse, test.name)
		assert.Equal(t, test.sure, rows[0].WorseForSure, test.name)
	}
	assert.Empty(t, regression.Judge(of("gc-sec/op", 1), of("gc-sec/op", 2), 1), "what the collector takes")
	assert.Empty(t, regression.Judge(of("events/s", 1), of("events/s", 2), 1), "more is better")
}

func TestJudgeGivesSharedBytesRoom(t *testing.T) {
	for _, test := range []struct {
		allocations, bytes float64
		worse              bool
	}{{0, 96, false}, {0.5, 96, false}, {1, 96, true}, {0, 20_000, true}} {
		before, now := of("B/op", 64, 64, 64), of("B/op", test.bytes, test.bytes, test.bytes)
		for _, r := range []*results.Results{before, now} {
			s := r.Series[0]
			s.Metrics = append(s.Metrics, of("allocs/op", test.allocations).Series[0].Metrics...)
		}
		rows := regression.Judge(before, now, 1)
		require.Len(t, rows, 2)
		assert.Equal(t, test.worse, rows[0].WorseForSure, test)
	}
}

func TestPattern(t *testing.T) {
	rows := []regression.Row{
		{Name: "List/form=a+b/n=1", Side: "typed"}, {Name: "List/form=c/n=1", Side: "typed", Unit: "B/op"}, {Name: "List/form=c/n=1", Side: "own"},
	}
	assert.Equal(t, `^(BenchmarkList)$/^(form=a\+b|form=c)$/^(n=1)$/^(impl=typed|impl=own)$`, regression.Pattern(rows))
}

func TestControl(t *testing.T) {
	assert.InDelta(t, 1.2, regression.Control(of("sec/op", 1, 1, 1), of("sec/op", 1.3, 1.2, 1.4)), 1e-9)
	assert.InDelta(t, 1.0, regression.Control(of("sec/op", 1, 1, 1), of("sec/op", 1.3, 0.9, 1.4)), 1e-9)
	assert.InDelta(t, 1.0, regression.Control(&results.Results{}, &results.Results{}), 1e-9)
}
