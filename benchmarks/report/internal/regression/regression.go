// Package regression decides which benchmarks have become slower than they were.
package regression

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"

	"github.com/kubetyped/informer/benchmarks/report/internal/comparison"
	"github.com/kubetyped/informer/benchmarks/report/internal/results"
)

// Room is how many times as long a benchmark may take as at its baseline.
const Room = 1.15

// Row compares one quantity of one benchmark with its baseline.
type Row struct {
	Name, Side   string
	Unit         string
	Before, Now  float64           // medians
	Ratio        benchmath.Summary // of Now to Before, round by round
	Worse        bool              // more than Room times as long, or more allocations, as it seems
	WorseForSure bool              // as all of the interval of the ratio says
}

// Same reports whether two rows are about the same quantity of the same benchmark.
func (r Row) Same(other Row) bool {
	return r.Name == other.Name && r.Side == other.Side && r.Unit == other.Unit
}

// Pattern returns a pattern, as go test -bench has it, that selects the benchmarks of rows,
// which have equally many parts in their names, and perhaps some others.
func Pattern(rows []Row) string {
	var parts [][]string
	for _, row := range rows {
		for i, part := range strings.Split("Benchmark"+row.Name+"/impl="+row.Side, "/") {
			if i == len(parts) {
				parts = append(parts, nil)
			}
			if quoted := regexp.QuoteMeta(part); !slices.Contains(parts[i], quoted) {
				parts[i] = append(parts[i], quoted)
			}
		}
	}
	patterns := make([]string, len(parts))
	for i := range parts {
		patterns[i] = "^(" + strings.Join(parts[i], "|") + ")$"
	}
	return strings.Join(patterns, "/")
}

// Judge compares results of the same rounds, in each of which the sides took turns,
// and returns a row for each time and number of allocations that both have. Times that
// are longer by what the control takes longer by are not worse.
func Judge(before, now *results.Results, control float64) []Row {
	var rows []Row
	for _, s := range now.Series {
		b := before.Find(s.Name, s.Side)
		if b == nil {
			continue
		}
		for _, m := range s.Metrics {
			was := b.Values(m.Unit)
			if n := min(len(was), len(m.Values)); n > 0 && counts(m.Unit) {
				row := Row{Name: s.Name, Side: s.Side, Unit: m.Unit}
				rows = append(rows, judge(row, was[:n], m.Values[:n], control, shared(s.Values("allocs/op"))))
			}
		}
	}
	return rows
}

// sharedRoom is how many bytes for each operation the setup of a run may differ by.
const sharedRoom = 16 << 10

// shared reports whether allocations are shared among the operations of a run, by their
// numbers for each operation: there are fewer than one.
func shared(allocations []float64) bool { return len(allocations) > 0 && median(allocations) < 1 }

// counts reports whether more of a unit is worse.
func counts(unit string) bool { return isTime(unit) || unit == "allocs/op" || unit == "B/op" }

// isTime leaves out what the collector takes, which is chance where nothing allocates.
func isTime(unit string) bool { return unit == "sec/op" || strings.HasPrefix(unit, "cpu-sec/") }

// judge fills in a row. A time of 0 is that of a benchmark that measures something
// else. Fractions of an allocation, and a few bytes, are what is shared among the
// operations of a run, whose number differs. Where all bytes are shared, they are a few
// kilobytes.
func judge(row Row, before, now []float64, control float64, shared bool) Row {
	row.Before, row.Now = median(before), median(now)
	if !isTime(row.Unit) {
		room := 0.5 + 0.02*row.Before
		if row.Unit == "B/op" {
			room = 16 + 0.1*row.Before
			if shared {
				room += sharedRoom
			}
		}
		row.Worse = row.Now > row.Before+room
		row.WorseForSure = slices.Min(now) > slices.Max(before)+room
		return row
	}
	if row.Before == 0 || row.Now == 0 {
		return row
	}
	ratios := make([]float64, len(now))
	for i := range now {
		ratios[i] = now[i] / before[i]
	}
	row.Ratio = interval(ratios)
	limit := Room * max(1, control)
	row.Worse, row.WorseForSure = row.Ratio.Center > limit, row.Ratio.Lo > limit
	return row
}

// Control returns by which factor, at least, client-go's side has become slower: 1 if that is
// unknown.
func Control(before, now *results.Results) float64 {
	least := 0.0
	for _, row := range Judge(before, now, 1) {
		if isTime(row.Unit) && row.Ratio.Center > 0 && (least == 0 || row.Ratio.Lo < least) {
			least = row.Ratio.Lo
		}
	}
	return max(1, least)
}

func median(values []float64) float64 { return interval(values).Center }

// interval returns the median, with an interval that has it with a confidence of 95 %
// or the most that so few values allow.
func interval(values []float64) benchmath.Summary {
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Summary(sample, comparison.Confidence(len(values)))
}
