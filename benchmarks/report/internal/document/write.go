package document

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kubetyped/informer/benchmarks/report/internal/chart"
	"github.com/kubetyped/informer/benchmarks/report/internal/comparison"
	"github.com/kubetyped/informer/benchmarks/report/internal/results"
	"github.com/kubetyped/informer/benchmarks/report/internal/target"
	"github.com/kubetyped/informer/internal/test/report"
)

// Maker is what stands in documents for this program, see package report.
const Maker = "benchmarks/compare"

// Folder is where the project keeps what Performance writes.
const Folder = "benchmarks/results"

// HeadlinesName is the page with the most important results.
const HeadlinesName = "docs/explanation/performance.md"

// Names of what Performance writes.
const (
	PerformanceName = "performance.md"
	chartsName      = "performance"
	ResultsName     = "performance/results.json"
	ProcessesName   = "performance/processes.json"
)

// empty is a document with generated parts only.
//
//go:embed performance.md
var empty []byte

// sections returns what is between the marks of a performance document.
func sections(r *results.Results) map[string]string {
	rows := comparison.Rows(r, target.All())
	all := map[string]string{
		"conditions": Conditions(r) + "\n",
		"targets":    Targets(rows).Markdown(),
		"client-go":  Comparisons(r, choose(rows, isUsual), Bold).Markdown(),
		"peers":      Comparisons(r, choose(rows, isPeer), Bold).Markdown(),
		"views":      Comparisons(r, choose(rows, ofViews), Bold).Markdown(),
		"objects":    Comparisons(r, choose(rows, isOfObjects), Bold).Markdown(),
		"processes":  Sides(r, processes).Markdown(),
	}
	for _, curve := range Curves() {
		all[curve.Name] = curve.Table(rows).Markdown()
	}
	return all
}

const (
	scales    = "Scale"
	processes = "SyncProcess"
)

// isUsual reports whether a row is in the table of client-go, which has the rows of no other
// table.
func isUsual(r comparison.Row) bool {
	return !isPeer(r) && !ofObjects(r) && !ofViews(r) && !strings.HasPrefix(r.Name, scales) && !strings.HasPrefix(r.Name, processes) &&
		(r.Peer != "" || r.Unit == "sec/op")
}

func isPeer(r comparison.Row) bool {
	return r.Peer != "" && r.Peer != comparison.Here && !strings.HasPrefix(r.Peer, "client-go") && !ofViews(r)
}

// ofViews reports whether a row is about collections that are computed.
func ofViews(r comparison.Row) bool { return strings.Contains(r.Name, "View") }

// ofOtherViews reports whether such a row compares with another project.
func ofOtherViews(r comparison.Row) bool {
	return ofViews(r) && r.Peer != "" && r.Peer != comparison.Here
}

// ofObjects reports whether a row is about decoding and keeping objects.
func ofObjects(r comparison.Row) bool {
	return strings.HasPrefix(r.Name, "Decode") || strings.HasPrefix(r.Name, "Held")
}

// isOfObjects reports whether a row is in the table of objects. That omits time: processor time
// covers it, and that of the collector.
func isOfObjects(r comparison.Row) bool {
	return ofObjects(r) && r.Peer != "" && r.Unit != "sec/op"
}

// isClientGo reports whether a chart compares a row with client-go: one that has a target.
func isClientGo(r comparison.Row) bool {
	return r.Peer == "client-go" && !strings.HasPrefix(r.Name, scales) && r.Target != nil
}

func choose(rows []comparison.Row, keep func(comparison.Row) bool) []comparison.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r comparison.Row) bool { return !keep(r) })
}

// Performance writes benchmarks/results/performance.md, or what is to be like it, its charts
// and the results into folder. Where the document is there already, only what
// this program has made before is replaced.
func Performance(folder string, r *results.Results) error {
	if err := os.MkdirAll(filepath.Join(folder, chartsName), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", PerformanceName, err)
	}
	path := filepath.Join(folder, PerformanceName)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(path, empty, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", PerformanceName, err)
		}
	}
	var failed error
	for name, content := range sections(r) {
		failed = errors.Join(failed, report.Replace(path, Maker+" "+name, content))
	}
	svgs, err := Charts(r)
	failed = errors.Join(failed, err, drawProcesses(folder))
	for name, svg := range svgs {
		failed = errors.Join(failed, os.WriteFile(filepath.Join(folder, chartsName, name), svg, 0o644))
	}
	return errors.Join(failed, r.Save(filepath.Join(folder, ResultsName)))
}

// drawProcesses draws what e2e/scale has left in folder.
func drawProcesses(folder string) error {
	processes, err := report.LoadProcesses(filepath.Join(folder, ProcessesName))
	if err != nil || len(processes.Needs) == 0 {
		return err
	}
	svg, err := chart.Processes(processes)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, chartsName, "processes.svg"), svg, 0o644)
}

// Pages writes what is made from the results below docs: what single parts gain, and, in
// the README, what a process gains.
func Pages(project string, r *results.Results) error {
	targets := target.All()
	processes, err := report.LoadProcesses(filepath.Join(project, filepath.FromSlash(Folder), filepath.FromSlash(ProcessesName)))
	if err == nil && len(processes.Needs) > 0 {
		err = report.Replace(filepath.Join(project, "README.md"), Maker, OneLine(processes).Markdown())
	}
	return errors.Join(err, report.Replace(filepath.Join(project, filepath.FromSlash(HeadlinesName)), Maker, Headlines(r, comparison.Rows(r, targets), targets)))
}

// OneLine is the table of what a process needs with client-go, with one import changed, and
// with deduplication: the first three sides.
func OneLine(p report.Processes) report.Table {
	table := report.Table{Head: []string{p.Title}}
	for i, need := range p.Needs {
		row := []string{need.Name}
		for j, side := range need.Sides[:min(3, len(need.Sides))] {
			cell := short(side.Value) + " " + need.Unit
			if j > 0 {
				cell += ", " + lessOrMore(need.Sides[0].Value, side.Value)
			}
			row = append(row, cell)
			if i == 0 {
				table.Head = append(table.Head, side.Side)
			}
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// lessOrMore writes how many times less, or more, a need is than it was before.
func lessOrMore(before, now float64) string {
	switch {
	case short(before/now) == short(1):
		return "as much"
	case now > before:
		return short(now/before) + "× more"
	default:
		return short(before/now) + "× less"
	}
}

// short writes a number with three digits.
func short(value float64) string {
	digits := 2
	for limit := 10.0; digits > 0 && value >= limit; limit *= 10 {
		digits--
	}
	return strconv.FormatFloat(value, 'f', digits, 64)
}

// Charts returns the charts of r by the names of their files. There is none without
// measurements, and no curve with less than two sizes.
func Charts(r *results.Results) (map[string][]byte, error) {
	rows := comparison.Rows(r, target.All())
	svgs := map[string][]byte{}
	var failed error
	draw := func(name string, svg func() ([]byte, error)) {
		content, err := svg()
		svgs[name], failed = content, errors.Join(failed, err)
	}
	for name, bars := range map[string]*chart.Bars{
		"ratios.svg": {Title: "How many times better than client-go", Axis: "client-go / here (the mark: target)", Bars: bars(rows, isClientGo)},
		"peers.svg":  {Title: "How many times better than others", Axis: "the other / here (the mark: target)", Bars: bars(rows, isPeer)},
		"views.svg":  {Title: "How many times longer others take for views", Axis: "the other / here (the mark: target)", Bars: bars(rows, ofOtherViews)},
	} {
		if len(bars.Bars) > 0 {
			draw(name, bars.SVG)
		}
	}
	for _, curve := range Curves() {
		if len(curve.Sizes(rows)) > 1 {
			draw(strings.ToLower(curve.Name)+".svg", curve.Chart(rows).SVG)
		}
	}
	return svgs, failed
}

// bars are those of the rows to keep that have a ratio.
func bars(rows []comparison.Row, keep func(comparison.Row) bool) []chart.Bar {
	var all []chart.Bar
	for _, row := range choose(rows, keep) {
		if row.Ratio == 0 {
			continue
		}
		bar := chart.Bar{Name: work(&row), Ratio: row.Ratio}
		if isPeer(row) || ofViews(row) {
			bar.Name += ", beside " + row.Peer
		}
		if row.Target != nil {
			bar.Target = row.Target.AtLeast
		}
		all = append(all, bar)
	}
	return all
}
