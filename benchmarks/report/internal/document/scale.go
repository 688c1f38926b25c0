package document

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubetyped/informer/benchmarks/report/internal/chart"
	"github.com/kubetyped/informer/benchmarks/report/internal/comparison"
	"github.com/kubetyped/informer/internal/test/report"
)

// Curve is what a benchmark of several sizes has measured, and how it is drawn.
type Curve struct {
	Name      string // of the benchmark, such as "ScaleObjects"
	Title     string
	Size      string // what there is more and more of
	Units     []string
	Costs     []string // what the units are of, one for each
	PerSecond string   // what to draw times an operation as, "" as they are: "events a second"
}

// Curves returns those of the scale benchmarks.
func Curves() []Curve {
	const (
		events   = "events a second"
		garbage  = "collector, CPU time an event"
		heap     = "heap beyond the objects"
		timeEach = "time an event"
	)
	usual := []string{"sec/op", "heap-B", "gc-sec/op"}
	return []Curve{
		{"ScaleObjects", "Cost by number of objects", "objects", usual, []string{timeEach, heap, garbage}, ""},
		{"ScaleHandlers", "Speed by number of handlers", "handlers", usual, []string{events, heap, garbage}, events},
		{"ScaleIndexes", "Cost by number of indexes", "indexes", usual, []string{timeEach, heap, garbage}, ""},
		{"ScaleReaders", "Speed by number of readers", "readers", []string{"writes/s", "reads/s", "gc-sec/op"}, []string{"writes a second", "reads a second", garbage}, ""},
	}
}

// Size is one of those that were measured.
type Size struct {
	Number float64
	Rows   map[string]comparison.Row // by unit
}

// Sizes returns those of a curve, of which rows has the comparisons with
// client-go, in their order.
func (c *Curve) Sizes(rows []comparison.Row) []Size {
	var all []Size
	for _, row := range rows {
		name, parameter, _ := strings.Cut(row.Name, "/")
		if name != c.Name || row.Peer != "client-go" {
			continue
		}
		var number float64
		_, value, _ := strings.Cut(parameter, "=")
		if _, err := fmt.Sscan(value, &number); err != nil {
			continue // not a size
		}
		at := slices.IndexFunc(all, func(s Size) bool { return s.Number == number })
		if at < 0 {
			at = len(all)
			all = append(all, Size{number, map[string]comparison.Row{}})
		}
		all[at].Rows[row.Unit] = row
	}
	return all
}

// Chart returns the curve as it is drawn.
func (c *Curve) Chart(rows []comparison.Row) *chart.Curves {
	drawn := &chart.Curves{Title: c.Title, Size: c.Size}
	sizes := c.Sizes(rows)
	for i, unit := range c.Units {
		panel := chart.Panel{Cost: c.Costs[i], Unit: unitOf(unit)}
		for _, size := range sizes {
			row, ok := size.Rows[unit]
			if !ok {
				continue
			}
			ours, theirs := row.Ours.Center, row.Peers.Center
			if c.PerSecond != "" && c.PerSecond == c.Costs[i] {
				panel.Unit = chart.Counts
				ours, theirs = 1/ours, 1/theirs
			}
			panel.Ours = append(panel.Ours, chart.Point{Size: size.Number, Cost: ours})
			panel.Theirs = append(panel.Theirs, chart.Point{Size: size.Number, Cost: theirs})
		}
		drawn.Panels = append(drawn.Panels, panel)
	}
	return drawn
}

// unitOf returns what an axis has for a unit of benchmarks.
func unitOf(unit string) chart.Unit {
	switch suffix(unit) {
	case "s":
		return chart.Seconds
	case "B":
		return chart.Bytes
	}
	return chart.Counts
}

// Table returns the curve in figures: those of this project, of client-go, and
// the ratio.
func (c *Curve) Table(rows []comparison.Row) report.Table {
	t := report.Table{Head: []string{c.Size}}
	for _, unit := range c.Units {
		t.Head = append(t.Head, unit, "client-go", "ratio")
	}
	for _, size := range c.Sizes(rows) {
		cells := []string{chart.Count(size.Number)}
		for _, unit := range c.Units {
			row, ok := size.Rows[unit]
			if !ok {
				cells = append(cells, "–", "–", "–")
				continue
			}
			cells = append(cells, spread(row.Ours, unit), spread(row.Peers, unit), ratio(&row))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}
