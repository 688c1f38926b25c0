package comparison

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/benchmarks/report/internal/results"
	"github.com/kubetyped/informer/benchmarks/report/internal/target"
)

func series(name, side string, metrics ...results.Metric) *results.Series {
	return &results.Series{Name: name, Side: side, Metrics: metrics}
}

func metric(unit string, values ...float64) results.Metric {
	return results.Metric{Unit: unit, Values: values}
}

// row returns the one row of a unit and peer.
func row(t *testing.T, rows []Row, name, unit, side, peer string) Row {
	t.Helper()
	var found []Row
	for _, r := range rows {
		if r.Name == name && r.Unit == unit && r.Side == side && r.Peer == peer {
			found = append(found, r)
		}
	}
	require.Len(t, found, 1, "%s %s", name, unit)
	return found[0]
}

func TestRows(t *testing.T) {
	r := &results.Results{Series: []*results.Series{
		series("Get", "client-go", metric("sec/op", 9, 10, 11), metric("B/op", 1, 1, 1)),
		series("Get", "typed", metric("sec/op", 5, 4, 6), metric("B/op", 0, 0, 0)),
		series("Get", "typed-fair", metric("sec/op", 10, 10, 10)),
		series("Get", "typed-small", metric("sec/op", 2)),
		series("Get", "client-go-small", metric("sec/op", 8)),
		series("Get", "client-go-typed", metric("sec/op", 20)),
		series("Read", "typed", metric("sec/op", 1), metric("reads/s", 30)),
		series("Read", "client-go", metric("sec/op", 2), metric("reads/s", 10)),
		series("Range", "typed", metric("sec/op", 7), metric("allocs/op", 0)),
		series("Heap", "typed", metric("sec/op", 0), metric("B/object", 100)),
		series("Heap", "client-go", metric("sec/op", 0), metric("B/object", 150)),
		series("Other", "client-go", metric("sec/op", 1)),
	}}
	targets := []target.Target{
		{Name: "Get", Side: "typed", Unit: "sec/op", Peer: "client-go", AtLeast: 2.5},
		{Name: "Get", Side: "typed-fair", Unit: "sec/op", Peer: "typed", AtLeast: 0.4},
		{Name: "Range", Side: "typed", Unit: "allocs/op", AtMost: 0},
		{Name: "Get", Side: "typed", Unit: "B/op", AtMost: -1},
		{Name: "None", Side: "typed", Unit: "B/op", AtMost: 0},
	}
	rows := Rows(r, targets)
	require.Len(t, rows, 9)

	get := row(t, rows, "Get", "sec/op", "typed", "client-go")
	assert.Equal(t, 2.0, get.Ratio)
	assert.Equal(t, 5.0, get.Ours.Center)
	assert.Equal(t, 4.0, get.Ours.Lo)
	assert.Equal(t, 6.0, get.Ours.Hi)
	assert.True(t, get.Missed())
	assert.True(t, get.Nearly(), "80 % of the target")
	assert.Equal(t, []float64{5, 4, 6}, r.Find("Get", "typed").Values("sec/op"), "in the order in which they came")

	fair := row(t, rows, "Get", "sec/op", "typed-fair", "typed")
	assert.Equal(t, 0.5, fair.Ratio)
	assert.False(t, fair.Missed())

	assert.Equal(t, 4.0, row(t, rows, "Get", "sec/op", "typed-small", "client-go-small").Ratio)
	assert.Equal(t, 4.0, row(t, rows, "Get", "sec/op", "typed", "client-go-typed").Ratio)
	assert.Equal(t, 3.0, row(t, rows, "Read", "reads/s", "typed", "client-go").Ratio, "more is better, and there is no row by time")
	alone := row(t, rows, "Range", "sec/op", "typed", "")
	assert.Zero(t, alone.Ratio)
	assert.False(t, alone.Missed())
	assert.Equal(t, 1.5, row(t, rows, "Heap", "B/object", "typed", "client-go").Ratio)
	reached := row(t, rows, "Range", "allocs/op", "typed", "")
	assert.False(t, reached.Missed())
	missed := row(t, rows, "Get", "B/op", "typed", "")
	assert.True(t, missed.Missed())
}

func TestAlike(t *testing.T) {
	alike := func(ours, theirs []float64) bool {
		r := &results.Results{Series: []*results.Series{
			series("Get", "typed", metric("sec/op", ours...)),
			series("Get", "client-go", metric("sec/op", theirs...)),
		}}
		return Rows(r, nil)[0].Alike
	}
	assert.False(t, alike([]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}))
	assert.True(t, alike([]float64{1, 2, 6, 7}, []float64{3, 4, 5, 8}))
	assert.False(t, alike([]float64{1, 2, 6}, []float64{3, 4, 5}), "too few to tell")
}

func TestConfidence(t *testing.T) {
	assert.Equal(t, 0.75, Confidence(3))
	assert.Equal(t, 0.95, Confidence(6))
	for n := 2; n <= 12; n++ {
		var values []float64
		for i := range n {
			values = append(values, float64(i))
		}
		v := Of(series("Get", "typed", metric("sec/op", values...)), "sec/op")
		assert.GreaterOrEqual(t, v.Lo, 0.0, "%d values have an interval", n)
		assert.LessOrEqual(t, v.Hi, float64(n-1))
	}
	assert.Zero(t, Of(series("Get", "typed"), "sec/op"))
}

// TestNearly uses values that spread: a target counts as missed if not even the best that the
// intervals allow reaches it.
func TestNearly(t *testing.T) {
	ours, peers := metric("sec/op", 1, 2, 3), metric("sec/op", 2, 4, 6)
	r := &results.Results{Series: []*results.Series{series("Get", "typed", ours), series("Get", "client-go", peers)}}
	for atLeast, nearly := range map[float64]bool{2: true, 6: true, 7.5: true, 7.6: false} {
		rows := Rows(r, []target.Target{{Name: "Get", Side: "typed", Unit: "sec/op", Peer: "client-go", AtLeast: atLeast}})
		require.Len(t, rows, 1)
		assert.Equal(t, 2.0, rows[0].Ratio)
		assert.Equal(t, nearly, rows[0].Nearly(), "%g", atLeast)
	}
}
