package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/kubetyped/informer/internal/test/report"
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

	need report.Need // what a chart calls it; without a name, it is in none
}

const megabyte = 1e6

var figures = []figure{
	{name: "time to sync, s", format: "%.2f", of: func(m measurement) float64 { return m.synced.Took.Seconds() }},
	{name: "CPU time to sync, s", format: "%.2f", of: func(m measurement) float64 { return m.synced.CPU.Seconds() }, need: report.Need{Name: "CPU time until synced", Unit: "s"}},
	{name: "peak memory until synced, MB", format: "%.0f", of: func(m measurement) float64 { return float64(m.synced.Peak) / megabyte }, need: report.Need{Name: "Memory at the peak until then", Unit: "MB"}},
	{name: "live heap when synced, MB", format: "%.0f", of: func(m measurement) float64 { return float64(m.synced.Heap) / megabyte }, need: report.Need{Name: "Heap that is kept", Unit: "MB"}},
	{name: "events a second", format: "%.0f", of: func(m measurement) float64 { return float64(m.events.Updates) / m.events.Took.Seconds() }, moreIsIt: true},
	{name: "CPU time an event, µs", format: "%.0f", of: func(m measurement) float64 { return float64(m.events.CPU.Microseconds()) / float64(m.events.Updates) }, need: report.Need{Name: "CPU time an update of a Pod", Unit: "µs"}},
	{name: "peak memory in all, MB", format: "%.0f", of: func(m measurement) float64 { return float64(m.events.Peak) / megabyte }},
}

// table returns the figures of all sides, and how many times better ours are.
func (c comparison) table() report.Table {
	t := report.Table{Head: []string{"", words[sideClientGo]}}
	for _, side := range c.ours {
		t.Head = append(t.Head, words[side])
	}
	for _, f := range figures {
		theirs := f.values(c.results[sideClientGo])
		row := []string{f.name, f.spread(theirs)}
		for _, side := range c.ours {
			ours := f.values(c.results[side])
			ratio := median(theirs) / median(ours)
			if f.moreIsIt {
				ratio = 1 / ratio
			}
			row = append(row, fmt.Sprintf("%s: %.2f×", f.spread(ours), ratio))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// processes returns what a chart is made of.
func (c comparison) processes() report.Processes {
	p := report.Processes{Title: fmt.Sprintf("%s Pods on a real API server", thousands(c.pods))}
	for _, f := range figures {
		if f.need.Name == "" {
			continue
		}
		need := f.need
		for _, side := range append([]string{sideClientGo}, c.ours...) {
			need.Sides = append(need.Sides, report.Used{Side: words[side], Value: median(f.values(c.results[side]))})
		}
		p.Needs = append(p.Needs, need)
	}
	return p
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

// markdown returns the table with its conditions, for a document.
func (c comparison) markdown() string {
	return fmt.Sprintf(`
    cd e2e && go run ./scale %s

%s Pods and %s each of %s; %s updates of Pods a round; median of %d, and least to most. %s, client-go %s, GOMAXPROCS %d.

%s`, strings.Join(c.shape, " "), thousands(c.pods), thousands(c.others), enumerate(otherKinds), thousands(c.events), c.rounds,
		strings.Replace(runtime.Version(), "go", "Go ", 1), versionOf("k8s.io/client-go"), runtime.GOMAXPROCS(0), c.table().Markdown())
}

// write writes the table into a document and, if a folder for it exists next to the document,
// the data of its chart.
func (c comparison) write(document string) error {
	if err := report.Replace(document, maker, c.markdown()); err != nil {
		return err
	}
	folder := filepath.Join(filepath.Dir(document), "performance")
	if _, err := os.Stat(folder); err != nil {
		return nil
	}
	return c.processes().Save(filepath.Join(folder, "processes.json"))
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
