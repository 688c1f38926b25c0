// Package comparison compares the sides of benchmarks. The statistics are benchstat's, by
// package benchmath.
package comparison

import (
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"

	"github.com/kubetyped/informer/benchmarks/report/internal/results"
	"github.com/kubetyped/informer/benchmarks/report/internal/target"
)

// Here is the side that the others are compared with: this project's.
const Here = "typed"

// Row compares one quantity of one benchmark.
type Row struct {
	Name  string // of the benchmark
	Unit  string
	Side  string // Here or, if Peer is Here, another side of this project
	Peer  string // "" if Side is all there is
	Ours  Value
	Peers Value
	// Ratio is how many times better Ours is than Peers: less time or memory, or
	// more a second. It is 0 if there is no peer, or nothing to divide by.
	Ratio float64
	// Alike is set if the values do not show a difference, according to the U test. It is not
	// set if there are too few of them for this.
	Alike  bool
	Target *target.Target // nil: none was set
}

// Value is a quantity of a side: the median of the measured values, and an interval around it.
type Value struct {
	benchmath.Summary
	N int
}

// Missed reports whether the target was set and not reached.
func (r *Row) Missed() bool { return r.Target != nil && !r.Target.Reached(r.result()) }

// Nearly reports whether the target may have been reached, with the room that checks of changes
// have: it is false if not even the best of the intervals of both sides is. It is true if no
// target was set.
func (r *Row) Nearly() bool {
	if r.Target == nil {
		return true
	}
	best := r.Peers.Hi / r.Ours.Lo
	if isRate(r.Unit) {
		best = r.Ours.Hi / r.Peers.Lo
	}
	return r.Target.Nearly(max(r.Ratio, best))
}

func (r *Row) result() float64 {
	if r.Peer == "" {
		return r.Ours.Center
	}
	return r.Ratio
}

// Columns are the units that tables have columns for, next to those of the first row of a
// comparison, instead of rows.
var Columns = []string{"B/op", "allocs/op"}

// Rows returns the comparisons of the measured results, in their order: for each benchmark this
// project's side with each of the others, in each unit. A variant of it, such as
// typed-projection, is compared with the same one of client-go or, where there is none, with
// this project's side. A benchmark that has events or the like by the second is not compared by
// time too, which would say the same again.
func Rows(r *results.Results, targets []target.Target) []Row {
	var rows []Row
	for _, s := range r.Series {
		here := r.Find(s.Name, Here)
		variant, ours := strings.CutPrefix(s.Side, Here+"-")
		switch {
		case here == nil || len(s.Metrics) == 0:
		case ours:
			if same := r.Find(s.Name, clientGo+"-"+variant); same != nil {
				rows = append(rows, compare(s, same, targets)...)
			} else {
				rows = append(rows, compare(s, here, targets)...)
			}
		case s.Side != Here:
			if variant, ok := strings.CutPrefix(s.Side, clientGo+"-"); !ok || r.Find(s.Name, Here+"-"+variant) == nil {
				rows = append(rows, compare(here, s, targets)...)
			}
		case alone(r, s):
			rows = append(rows, compare(s, nil, targets)...)
		}
	}
	return append(rows, limits(r, targets)...)
}

const clientGo = "client-go"

// alone reports whether a benchmark has no other side.
func alone(r *results.Results, s *results.Series) bool {
	return !slices.ContainsFunc(r.Series, func(other *results.Series) bool {
		return other.Name == s.Name && other.Side != s.Side
	})
}

// units returns those that a series is compared by.
func units(s *results.Series) []string {
	var all []string
	rate := slices.ContainsFunc(s.Metrics, func(m results.Metric) bool { return isRate(m.Unit) })
	for _, m := range s.Metrics {
		isTime := m.Unit == "sec/op"
		if slices.Contains(Columns, m.Unit) || isTime && (rate || slices.Max(m.Values) == 0) {
			continue
		}
		if isTime {
			all = slices.Insert(all, 0, m.Unit)
		} else {
			all = append(all, m.Unit)
		}
	}
	return all
}

// collector is the unit of what the garbage collector costs, which is next to
// nothing on a side that does not allocate: a ratio would be chance.
const collector = "gc-sec/op"

// isRate reports whether more is better.
func isRate(unit string) bool { return strings.HasSuffix(unit, "/s") }

// compare compares a side of this project with another one, nil if there is none.
func compare(ours, other *results.Series, targets []target.Target) []Row {
	var rows []Row
	for _, unit := range units(ours) {
		row := Row{Name: ours.Name, Unit: unit, Side: ours.Side, Ours: Of(ours, unit)}
		if other != nil {
			row.against(ours, other)
		}
		row.Target = target.Find(targets, row.Name, row.Side, unit, row.Peer)
		rows = append(rows, row)
	}
	return rows
}

func (r *Row) against(ours, other *results.Series) {
	r.Peer, r.Peers = other.Side, Of(other, r.Unit)
	better, worse := r.Ours.Center, r.Peers.Center
	if isRate(r.Unit) {
		better, worse = worse, better
	}
	if better > 0 && r.Unit != collector {
		r.Ratio = worse / better
	}
	const enough = 4 // values of a side: with fewer, the U test never shows a difference at 0.05
	if r.Ours.N >= enough && r.Peers.N >= enough {
		test := benchmath.AssumeNothing.Compare(sample(ours.Values(r.Unit)), sample(other.Values(r.Unit)))
		r.Alike = test.P > test.Alpha
	}
}

// limits returns a row for each target without a peer whose unit has none.
func limits(r *results.Results, targets []target.Target) []Row {
	var rows []Row
	for i, t := range targets {
		if t.Peer != "" {
			continue
		}
		if s := r.Find(t.Name, t.Side); s != nil && s.Values(t.Unit) != nil {
			rows = append(rows, Row{Name: t.Name, Unit: t.Unit, Side: t.Side, Ours: Of(s, t.Unit), Target: &targets[i]})
		}
	}
	return rows
}

// Of returns a quantity of a side. Its interval has the median with a confidence
// of 95 % or, where there are too few values for that, the most that they allow.
func Of(s *results.Series, unit string) Value {
	values := s.Values(unit)
	if len(values) == 0 {
		return Value{}
	}
	return Value{benchmath.AssumeNothing.Summary(sample(values), Confidence(len(values))), len(values)}
}

// Confidence returns the confidence that the interval of a median of n values
// has at least: that of the interval from the least to the most of them, which
// misses the median when all are on one side of it, but no more than 95 %.
func Confidence(n int) float64 {
	return min(0.95, 1-math.Pow(2, float64(1-n)))
}

// sample does not sort what it is given.
func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}
