package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubetyped/informer/benchmarks/report/internal/comparison"
	"github.com/kubetyped/informer/benchmarks/report/internal/document"
	"github.com/kubetyped/informer/benchmarks/report/internal/measure"
	"github.com/kubetyped/informer/benchmarks/report/internal/target"
)

// guard measures the benchmarks that patterns match, which have guarded targets. It measures
// those below their targets, with room, again, in three times as many rounds, and returns an
// error if one is still below.
func (o *options) guard(ctx context.Context, suites []*measure.Suite, patterns []string, stdout, stderr io.Writer) error {
	var names []string // of those that are below their targets
	for attempt := range 2 {
		r, err := o.measure(ctx, suites, patterns, stderr)
		if err != nil {
			return err
		}
		rows := slices.DeleteFunc(comparison.Rows(r, target.All()), func(row comparison.Row) bool {
			return row.Target == nil || !row.Target.Guarded
		})
		if err := document.Comparisons(r, rows, document.Loud).WriteText(stdout); err != nil {
			return err
		}
		var below []target.Target
		names = nil
		for _, row := range rows {
			if !row.Nearly() {
				below = append(below, *row.Target)
				names = append(names, fmt.Sprintf("%s (%.2f× of %g×)", row.Name, row.Ratio, row.Target.AtLeast))
			}
		}
		if len(below) == 0 {
			return nil
		}
		if patterns = guarded(below); attempt == 0 {
			o.count *= 3
			fmt.Fprintf(stderr, "%d of these are below %.0f %% of their targets; measuring them again\n", len(below), 100*target.Room)
		}
	}
	return fmt.Errorf("below %.0f %% of their targets, twice: %s", 100*target.Room, strings.Join(names, ", "))
}

// guarded returns the patterns of the benchmarks with guarded targets.
func guarded(targets []target.Target) []string {
	var patterns []string
	for _, t := range targets {
		if t.Guarded {
			patterns = append(patterns, "^Benchmark"+strings.ReplaceAll(t.Name, "/", "$/^")+"$")
		}
	}
	return patterns
}
