package document

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubetyped/informer/benchmarks/report/internal/chart"
	"github.com/kubetyped/informer/benchmarks/report/internal/comparison"
	"github.com/kubetyped/informer/benchmarks/report/internal/results"
	"github.com/kubetyped/informer/benchmarks/report/internal/target"
	"github.com/kubetyped/informer/internal/test/report"
)

// Headlines is the part of the README that is made from the results: a row for
// each target that is a headline, in the order of targets, and how many of all were
// reached. There are no times in it, which are those of one machine.
func Headlines(r *results.Results, rows []comparison.Row, targets []target.Target) string {
	table := report.Table{Head: []string{"work", "times better", "target", "allocs, bytes here", "there"}}
	for i := range targets {
		at := slices.IndexFunc(rows, func(row comparison.Row) bool { return row.Target == &targets[i] })
		if at < 0 || !targets[i].Headline {
			continue
		}
		row := &rows[at]
		goal := times(row.Target.AtLeast)
		if row.Missed() {
			goal = Bold(goal + ", missed")
		}
		table.Rows = append(table.Rows, []string{
			row.Target.Work, chart.Times(row.Ratio) + "×", goal,
			memory(r, row, row.Side, row.Ours), memory(r, row, row.Peer, row.Peers),
		})
	}
	return fmt.Sprintf("%s\n\n%s\n%s\n", Conditions(r), table.Markdown(), Reached(rows))
}

// Reached says how many of the targets of measured benchmarks are reached.
func Reached(rows []comparison.Row) string {
	reached, all := 0, 0
	for _, row := range rows {
		if row.Target == nil {
			continue
		}
		all++
		if !row.Missed() {
			reached++
		}
	}
	if all == 0 {
		return "There are no targets for what was measured."
	}
	return fmt.Sprintf("%d of %d targets are reached.", reached, all)
}

// memory writes what an operation allocates or, for a quantity of memory, that.
func memory(r *results.Results, row *comparison.Row, side string, value comparison.Value) string {
	if suffix(row.Unit) == "B" {
		return number(value.Center, row.Unit)
	}
	s := r.Find(row.Name, side)
	if row.Unit != "sec/op" || s.Values("B/op") == nil {
		return ""
	}
	count := comparison.Of(s, "allocs/op").Center
	if count == 0 {
		return "0"
	}
	return fmt.Sprintf("%s, %s", number(count, "allocs/op"), number(comparison.Of(s, "B/op").Center, "B/op"))
}

// modules are those whose versions appear with their figures.
var modules = []struct{ path, name string }{
	{"k8s.io/client-go", "client-go"},
	{"sigs.k8s.io/controller-runtime", "controller-runtime"},
	{"istio.io/istio", "istio"},
	{"github.com/cilium/statedb", "statedb"},
}

// Conditions says how, when, where and with what the results were measured.
func Conditions(r *results.Results) string {
	var b strings.Builder
	rounds := "One round"
	if r.Rounds > 1 {
		rounds = fmt.Sprintf("Medians of %d rounds", r.Rounds)
	}
	fmt.Fprintf(&b, "%s in which the sides take turns, measured on %s by `%s` in %.0f minutes, at commit %s, on %s with %d processors (%s), with Go %s",
		rounds, r.Started.Format("2006-01-02"), r.Command, r.Minutes, r.Commit, r.Machine.CPU, r.Machine.Processors, r.Machine.System, r.Version("go"))
	for _, m := range modules {
		if version := r.Version(m.path); version != "" {
			fmt.Fprintf(&b, ", %s %s", m.name, version)
		}
	}
	b.WriteByte('.')
	for _, part := range r.Later {
		fmt.Fprintf(&b, " Measured again on %s by `%s` in %.0f minutes, %d rounds, at commit %s, on %s: %s.",
			part.Started.Format("2006-01-02"), part.Command, part.Minutes, part.Rounds, part.Commit, part.CPU, strings.Join(part.Benchmarks, ", "))
	}
	return b.String()
}
