// Package document writes comparisons as tables: for a terminal, for
// benchmarks/results/performance.md and for the README.
package document

import (
	"slices"
	"strings"

	"github.com/kubetyped/informer/benchmarks/report/internal/comparison"
	"github.com/kubetyped/informer/benchmarks/report/internal/results"
	"github.com/kubetyped/informer/internal/test/report"
)

// Emphasis marks what was missed.
type Emphasis func(string) string

// Loud marks in capitals, for a terminal.
func Loud(text string) string { return strings.ToUpper(text) }

// Bold marks as Markdown does.
func Bold(text string) string { return "**" + text + "**" }

// Comparisons returns a table with a row for each of rows, which are of r.
func Comparisons(r *results.Results, rows []comparison.Row, mark Emphasis) report.Table {
	t := report.Table{Head: []string{"benchmark", "here", "beside", "there", "ratio", "target", "allocs here", "there", "bytes here", "there"}}
	before := ""
	for _, row := range rows {
		cells := []string{name(row.Name, row.Side, row.Unit), spread(row.Ours, row.Unit), "–", "–", ratio(&row), goal(&row, mark)}
		if row.Peer != "" {
			cells[2], cells[3] = row.Peer, spread(row.Peers, row.Unit)
		}
		for _, unit := range []string{"allocs/op", "B/op"} {
			// They are of the operation, not of each of its quantities.
			first := row.Name+row.Peer != before
			cells = append(cells, column(r, row.Name, row.Side, unit, first), column(r, row.Name, row.Peer, unit, first))
		}
		before = row.Name + row.Peer
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// name returns a benchmark's name, the quantity unless it is time, and the side unless it is the
// usual one.
func name(benchmark, side, unit string) string {
	if side != comparison.Here {
		benchmark += ", " + side
	}
	if unit != "sec/op" {
		benchmark += ", " + unit
	}
	return benchmark
}

// goal writes a target and whether it was missed.
func goal(r *comparison.Row, mark Emphasis) string {
	if r.Missed() {
		return aim(r) + " " + mark("missed")
	}
	return aim(r)
}

func aim(r *comparison.Row) string {
	switch {
	case r.Target == nil:
		return "–"
	case r.Peer == "":
		return "≤ " + number(r.Target.AtMost, r.Unit)
	}
	return "≥ " + times(r.Target.AtLeast)
}

func column(r *results.Results, name, side, unit string, wanted bool) string {
	s := r.Find(name, side)
	if s == nil || !wanted || s.Values(unit) == nil {
		return "–"
	}
	return number(comparison.Of(s, unit).Center, unit)
}

// Targets returns a table of all targets for which there is a row, with their results.
func Targets(rows []comparison.Row) report.Table {
	t := report.Table{Head: []string{"benchmark", "beside", "target", "result"}}
	for _, row := range rows {
		if row.Target == nil {
			continue
		}
		beside, result := row.Peer, ratio(&row)
		if beside == "" {
			beside, result = "–", number(row.Ours.Center, row.Unit)
		}
		if row.Missed() {
			result = Bold(result + ", missed")
		}
		t.Rows = append(t.Rows, []string{name(row.Name, row.Side, row.Unit), beside, aim(&row), result})
	}
	return t
}

// Sides returns a table with a row for each side of the benchmarks that have the prefix, and a
// column for each quantity.
func Sides(r *results.Results, prefix string) report.Table {
	t := report.Table{Head: []string{"benchmark", "side"}}
	var units []string
	series := slices.DeleteFunc(slices.Clone(r.Series), func(s *results.Series) bool { return !strings.HasPrefix(s.Name, prefix) })
	for _, s := range series {
		for _, m := range s.Metrics {
			if !slices.Contains(units, m.Unit) {
				units = append(units, m.Unit)
			}
		}
	}
	t.Head = append(t.Head, units...)
	for _, s := range series {
		cells := []string{s.Name, s.Side}
		for _, unit := range units {
			cells = append(cells, spread(comparison.Of(s, unit), unit))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}
