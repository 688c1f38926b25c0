package document

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/benchmarks/report/internal/comparison"
	"github.com/kubetyped/informer/benchmarks/report/internal/results"
	"github.com/kubetyped/informer/benchmarks/report/internal/target"
	"github.com/kubetyped/informer/internal/test/report"
)

func series(name, side string, metrics ...results.Metric) *results.Series {
	return &results.Series{Name: name, Side: side, Metrics: metrics}
}

func metric(unit string, values ...float64) results.Metric {
	return results.Metric{Unit: unit, Values: values}
}

// measured are results with something for each table and chart.
func measured() *results.Results {
	r := &results.Results{
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Minutes: 2, Command: "go run x", Commit: "abc", Rounds: 3,
		Machine:  results.Machine{CPU: "some CPU", Processors: 2, System: "linux/amd64"},
		Versions: []results.Version{{Name: "go", Version: "1.26"}, {Name: "k8s.io/client-go", Version: "v0.37.2"}, {Name: "other", Version: "v1"}},
		Series: []*results.Series{
			series("Get", "typed", metric("sec/op", 1e-6, 1.1e-6, 1.2e-6), metric("B/op", 0, 0, 0), metric("allocs/op", 0, 0, 0)),
			series("Get", "client-go", metric("sec/op", 2.2e-6, 2e-6, 2.4e-6), metric("B/op", 48, 48, 48), metric("allocs/op", 1, 1, 1)),
			series("ListerGet", "typed", metric("sec/op", 1e-6)),
			series("ListerGet", "client-go", metric("sec/op", 1.2e-6)),
			series("Footprint/objects=100000", "typed", metric("sec/op", 0), metric("B/object", 156.2), metric("goroutines-1-handler", 5)),
			series("Footprint/objects=100000", "client-go", metric("sec/op", 0), metric("B/object", 187), metric("goroutines-1-handler", 7)),
			series("List/objects=100000/form=range", "typed", metric("sec/op", 5e-5), metric("allocs/op", 0)),
			series("WorkQueue/AddGetDone", "typed", metric("sec/op", 1e-7)),
			series("WorkQueue/AddGetDone", "typed-fair", metric("sec/op", 2e-7)),
			series("Priority/AddGetDone", "typed", metric("sec/op", 1e-7)),
			series("Priority/AddGetDone", "controller-runtime", metric("sec/op", 12e-7)),
			series("PeerViewPodChange/changes=1", "typed", metric("sec/op", 2e-5)),
			series("PeerViewPodChange/changes=1", "krt", metric("sec/op", 1e-3)),
			series("PeerViewPodChange/changes=1", "by-hand", metric("sec/op", 1e-5)),
			series("SyncProcess/encoding=json", "client-go", metric("sec/op", 2), metric("rss-B", 1e9)),
			series("SyncProcess/encoding=json", "typed", metric("sec/op", 1), metric("rss-B", 5e8)),
		},
	}
	for _, size := range []string{"1", "256"} {
		for _, side := range []string{"typed", "client-go"} {
			r.Series = append(r.Series, series("ScaleHandlers/handlers="+size, side,
				metric("sec/op", 1e-6), metric("heap-B", 1e6), metric("gc-sec/op", 1e-8)))
		}
	}
	return r
}

func rowsOf(t *testing.T, markdown string) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for line := range strings.Lines(markdown) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows[cells[0]] = cells[1:]
	}
	return rows
}

func TestComparisons(t *testing.T) {
	r := measured()
	rows := rowsOf(t, Comparisons(r, comparison.Rows(r, target.All()), Bold).Markdown())
	assert.Equal(t, []string{"1.100µs ±9%", "client-go", "2.200µs ±9%", "2.00×", "≥ 1×", "0", "1", "0B", "48B"}, rows["Get"])
	assert.Equal(t, []string{"1.000µs", "client-go", "1.200µs", "1.20×", "≥ 1.5× **missed**", "–", "–", "–", "–"}, rows["ListerGet"])
	assert.Equal(t, []string{"156.2B", "client-go", "187B", "1.20×", "≥ 1×", "–", "–", "–", "–"}, rows["Footprint/objects=100000, B/object"])
	assert.Equal(t, []string{"50.00µs", "–", "–", "–", "–", "0", "–", "–", "–"}, rows["List/objects=100000/form=range"])
	assert.Equal(t, []string{"200.0ns", "typed", "100.0ns", "0.50×", "≥ 0.67× **missed**", "–", "–", "–", "–"}, rows["WorkQueue/AddGetDone, typed-fair"])
}

func TestTargets(t *testing.T) {
	r := measured()
	rows := rowsOf(t, Targets(comparison.Rows(r, target.All())).Markdown())
	assert.Equal(t, []string{"client-go", "≥ 1×", "2.00×"}, rows["Get"])
	assert.Equal(t, []string{"client-go", "≥ 1.5×", "**1.20×, missed**"}, rows["ListerGet"])
	assert.Equal(t, []string{"–", "≤ 0", "0"}, rows["List/objects=100000/form=range, allocs/op"])
	assert.Equal(t, []string{"controller-runtime", "≥ 3×", "12.0×"}, rows["Priority/AddGetDone"])
	assert.NotContains(t, rows, "ScaleHandlers/handlers=1")
}

func TestHeadlines(t *testing.T) {
	r, targets := measured(), target.All()
	for i := range targets {
		targets[i].Headline = targets[i].Name != "WorkQueue/AddGetDone"
	}
	text := Headlines(r, comparison.Rows(r, targets), targets)
	rows := rowsOf(t, text)
	assert.NotContains(t, rows, "work queue: a key is added, handed out and done", "it is no headline")
	assert.Equal(t, []string{"2.00×", "1×", "0", "1, 48B"}, rows["get by key"])
	assert.Equal(t, []string{"1.20×", "**1.5×, missed**", "", ""}, rows["get from a lister"])
	assert.Equal(t, []string{"1.20×", "1×", "156.2B", "187B"}, rows["heap of store and 2 indexes, beyond the objects"])
	assert.Contains(t, text, "\n6 of 10 targets are reached.\n")
	assert.True(t, strings.HasPrefix(text, "Medians of 3 rounds in which the sides take turns, measured on 2026-01-02 by `go run x` in 2 minutes, "+
		"at commit abc, on some CPU with 2 processors (linux/amd64), with Go 1.26, client-go v0.37.2.\n"), text)
}

func TestOneLine(t *testing.T) {
	p := report.Processes{Title: "Pods", Needs: []report.Need{
		{Name: "CPU time", Unit: "s", Sides: []report.Used{{Side: "client-go", Value: 4.74244}, {Side: "one import changed", Value: 5}, {Side: "with deduplication", Value: 1.597636}, {Side: "typed", Value: 1}}},
		{Name: "memory", Unit: "MB", Sides: []report.Used{{Side: "client-go", Value: 547.9}, {Side: "one import changed", Value: 547}, {Side: "with deduplication", Value: 42}, {Side: "typed", Value: 1}}},
	}}
	table := OneLine(p)
	assert.Equal(t, []string{"Pods", "client-go", "one import changed", "with deduplication"}, table.Head)
	assert.Equal(t, [][]string{{"CPU time", "4.74 s", "5.00 s, 1.05× more", "1.60 s, 2.97× less"}, {"memory", "548 MB", "547 MB, as much", "42.0 MB, 13.0× less"}}, table.Rows)
}

func TestConditionsOfRepeatedMeasurements(t *testing.T) {
	r, again := measured(), measured()
	again.Series, again.Commit, again.Command = again.Series[:2], "def", "go run y"
	r.Take(again)
	assert.Contains(t, Conditions(r), "client-go v0.37.2. Measured again on 2026-01-02 by `go run y` in 2 minutes, 3 rounds, at commit def, on some CPU: Get.")
}

func TestReached(t *testing.T) {
	assert.Equal(t, "There are no targets for what was measured.", Reached(nil))
}

func TestSides(t *testing.T) {
	assert.Equal(t, "| benchmark | side | sec/op | rss-B |\n|---|--:|--:|--:|\n"+
		"| SyncProcess/encoding=json | client-go | 2s | 953.7MiB |\n| SyncProcess/encoding=json | typed | 1s | 476.8MiB |\n",
		Sides(measured(), "SyncProcess").Markdown())
}

func TestCurves(t *testing.T) {
	r := measured()
	rows := comparison.Rows(r, nil)
	for _, curve := range Curves() {
		sizes := curve.Sizes(rows)
		if curve.Name != "ScaleHandlers" {
			assert.Empty(t, sizes)
			continue
		}
		require.Len(t, sizes, 2)
		assert.Equal(t, 256.0, sizes[1].Number)
		assert.Equal(t, []string{"1.000µs", "1.000µs", "1.00×", "976.6KiB", "976.6KiB", "1.00×", "10.00ns", "10.00ns", "–"}, rowsOf(t, curve.Table(rows).Markdown())["256"])
		assert.InDelta(t, 1e6, curve.Chart(rows).Panels[0].Ours[0].Cost, 1e-6, "events a second")
	}
}

func TestPerformance(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	r := measured()
	require.NoError(t, Performance(folder, r))
	path := filepath.Join(folder, PerformanceName)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, want := range []string{"at commit abc", "| ListerGet | client-go |",
		"| PeerViewPodChange/changes=1 | 20.00µs | krt | 1.000ms | 50.0× | ≥ 10× |", "| 0.50× | ≥ 0.67× **missed** |", "| SyncProcess/encoding=json | typed |", "| 256 | 1.000µs"} {
		assert.Contains(t, string(content), want)
	}
	for _, name := range []string{"ratios.svg", "peers.svg", "views.svg", "scalehandlers.svg"} {
		assert.FileExists(t, filepath.Join(folder, "performance", name))
		assert.Contains(t, string(content), "performance/"+name)
	}
	loaded, err := results.Load(filepath.Join(folder, ResultsName))
	require.NoError(t, err)
	assert.Equal(t, r, loaded)

	require.NoError(t, os.WriteFile(path, []byte("Words.\n"+string(content)), 0o600))
	r.Commit = "def"
	require.NoError(t, Performance(folder, r))
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "Words.\n"+strings.ReplaceAll(string(content), "abc", "def"), string(again), "what is written by hand stays")

	require.NoError(t, os.WriteFile(path, []byte("Words.\n"), 0o600))
	assert.ErrorContains(t, Performance(folder, r), "has no line")
}

// TestDocumentsAreMadeFromTheResults fails when the README's table, the tables of
// benchmarks/results/performance.md or a chart were changed by hand, or were made from other
// results than those that are there.
func TestDocumentsAreMadeFromTheResults(t *testing.T) {
	const project = "../../../../"
	const again = "make them with: go run ./benchmarks/compare -from benchmarks/results/performance/results.json -out benchmarks/results"
	r, err := results.Load(project + Folder + "/" + ResultsName)
	require.NoError(t, err)

	folder := t.TempDir()
	for _, name := range []string{"README.md", HeadlinesName, Folder + "/" + PerformanceName, Folder + "/" + ProcessesName} {
		content, err := os.ReadFile(project + name)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}
	require.NoError(t, Performance(filepath.Join(folder, Folder), r))
	require.NoError(t, Pages(folder, r))

	require.NoError(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		require.NoError(t, err)
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(project, name))
		require.NoError(t, err, again)
		assert.True(t, string(want) == string(got), "%s is not made from %s; %s", name, ResultsName, again)
		return nil
	}))
}
