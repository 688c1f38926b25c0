package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/kubetyped/informer/internal/report"
)

// measurement is what came of one side in one round.
type measurement struct {
	synced synced
	events events
}

// comparison is what came of all rounds.
type comparison struct {
	plan
	results map[string][]measurement
}

// figure is one row of the table.
type figure struct {
	name     string
	of       func(measurement) float64
	format   string // of one number
	moreIsIt bool   // better
}

const megabyte = 1e6

var figures = []figure{
	{name: "time to sync, s", format: "%.2f", of: func(m measurement) float64 { return m.synced.Took.Seconds() }},
	{name: "CPU time to sync, s", format: "%.2f", of: func(m measurement) float64 { return m.synced.CPU.Seconds() }},
	{name: "peak memory until synced, MB", format: "%.0f", of: func(m measurement) float64 { return float64(m.synced.Peak) / megabyte }},
	{name: "live heap when synced, MB", format: "%.0f", of: func(m measurement) float64 { return float64(m.synced.Heap) / megabyte }},
	{name: "events a second", format: "%.0f", of: func(m measurement) float64 { return float64(m.events.Updates) / m.events.Took.Seconds() }, moreIsIt: true},
	{name: "CPU time an event, µs", format: "%.0f", of: func(m measurement) float64 { return float64(m.events.CPU.Microseconds()) / float64(m.events.Updates) }},
	{name: "peak memory in all, MB", format: "%.0f", of: func(m measurement) float64 { return float64(m.events.Peak) / megabyte }},
}

// table returns the figures of both sides.
func (c comparison) table() report.Table {
	t := report.Table{Head: []string{"", "client-go", "here", "ratio"}}
	for _, f := range figures {
		theirs, ours := f.values(c.results[sideClientGo]), f.values(c.results[c.here])
		ratio := median(theirs) / median(ours)
		if f.moreIsIt {
			ratio = 1 / ratio
		}
		t.Rows = append(t.Rows, []string{f.name, f.spread(theirs), f.spread(ours), fmt.Sprintf("%.2f×", ratio)})
	}
	return t
}

// values returns the figure of each measurement, in order.
func (f figure) values(ms []measurement) []float64 {
	var values []float64
	for _, m := range ms {
		values = append(values, f.of(m))
	}
	slices.Sort(values)
	return values
}

// spread describes values that are in order.
func (f figure) spread(values []float64) string {
	return fmt.Sprintf(f.format+" ("+f.format+" to "+f.format+")", median(values), values[0], values[len(values)-1])
}

// median returns the median of values that are in order.
func median(values []float64) float64 {
	middle := len(values) / 2
	if len(values)%2 == 0 {
		return (values[middle-1] + values[middle]) / 2
	}
	return values[middle]
}

// markdown returns the table with what has to be known of it, for a document.
func (c comparison) markdown() string {
	return fmt.Sprintf(`
    cd e2e && go run ./scale %s

%s Pods and %s each of %s; %s updates of Pods a round; median of %d, and least to most. %s, client-go %s, GOMAXPROCS %d.

%s`, strings.Join(c.shape, " "), thousands(c.pods), thousands(c.others), enumerate(otherKinds), thousands(c.events), c.rounds,
		strings.Replace(runtime.Version(), "go", "Go ", 1), versionOf("k8s.io/client-go"), runtime.GOMAXPROCS(0), c.table().Markdown())
}

// versionOf returns the version of a module that this program is built with.
func versionOf(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				if dependency.Replace != nil {
					return dependency.Replace.Version
				}
				return dependency.Version
			}
		}
	}
	return "of an unknown version"
}

// enumerate joins words as a sentence does.
func enumerate(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// thousands returns a number with a comma after each three digits.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.0f MB", float64(bytes)/megabyte) }
