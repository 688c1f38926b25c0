package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/benchmarks/report/internal/document"
	"github.com/kubetyped/informer/benchmarks/report/internal/results"
	"github.com/kubetyped/informer/benchmarks/report/internal/target"
)

// project makes a folder with benchmarks that print what the text, functions of
// Go, says. They may use side, and slow, which is the slower in the calls of as
// many processes as were asked for.
func project(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	for _, folder := range []string{"benchmarks", "benchmarks/peers"} {
		write(folder+"/go.mod", "module example.com/fake\n\ngo 1.26\n")
	}
	write("benchmarks/fake_test.go", `package fake

import (
	"os"
	"testing"
)

func side(b *testing.B, name string, cost float64) {
	b.Run("impl="+name, func(b *testing.B) { b.ReportMetric(cost, "ns/op") })
}

func both(b *testing.B, ours, theirs float64) { side(b, "typed", ours); side(b, "client-go", theirs) }

// slow tells whether fewer than n processes have asked before.
func slow(n int) bool {
	asked, _ := os.ReadFile("asked")
	if err := os.WriteFile("asked", append(asked, 1), 0o600); err != nil {
		panic(err)
	}
	return len(asked) < n
}

`+text)
	write("benchmarks/peers/fake_test.go", `package fake

import "testing"

func BenchmarkPriority(b *testing.B) {
	b.Run("AddGetDone", func(b *testing.B) {
		for _, side := range []string{"typed", "controller-runtime"} {
			b.Run("impl="+side, func(b *testing.B) { b.ReportMetric(7, "ns/op") })
		}
	})
}
`)
	return dir
}

// compare does what the command line says, in a project.
func compare(ctx context.Context, t *testing.T, dir string, arguments ...string) (stdout, stderr string, err error) {
	t.Helper()
	o, err := parse(append([]string{"-project", dir}, arguments...), io.Discard)
	require.NoError(t, err)
	var out, progress bytes.Buffer
	err = o.run(ctx, &out, &progress)
	return out.String(), progress.String(), err
}

const getAndRead = `
func BenchmarkGet(b *testing.B) { both(b, 10, 30) }

func BenchmarkScaleHandlers(b *testing.B) {
	b.Run("handlers=1", func(b *testing.B) { both(b, 10, 30) })
	b.Run("handlers=4", func(b *testing.B) { both(b, 20, 70) })
}
`

func TestFullRunWritesDocuments(t *testing.T) {
	dir := project(t, getAndRead)
	page := filepath.Join(dir, filepath.FromSlash(document.HeadlinesName))
	require.NoError(t, os.MkdirAll(filepath.Dir(page), 0o700))
	require.NoError(t, os.WriteFile(page, []byte("# Fake\n<!-- made by benchmarks/compare -->\n<!-- end -->\n"), 0o600))
	stdout, stderr, err := compare(t.Context(), t, dir, "-count", "2", "-benchtime", "1x")
	require.NoError(t, err)
	assert.Regexp(t, `Get\s+10.00ns\s.*client-go\s+30.00ns\s.*3\.00×\s+≥ 1×`, stdout)
	assert.Regexp(t, `Priority/AddGetDone\s+7.000ns\s.*controller-runtime\s+7.000ns\s.*1\.00×\s+≥ 3× MISSED`, stdout)
	assert.Contains(t, stdout, "`go run ./benchmarks/compare -count 2 -benchtime 1x`")
	assert.Contains(t, stderr, "[6/6] round 2 of 2: Priority")

	content, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(content), "1 of 2 targets are reached.")
	assert.FileExists(t, filepath.Join(dir, "benchmarks", "results", "performance.md"))
	assert.FileExists(t, filepath.Join(dir, "benchmarks", "results", "performance", "scalehandlers.svg"))
	r, err := results.Load(filepath.Join(dir, "bin", "compare.json"))
	require.NoError(t, err)
	assert.Len(t, r.Series, 8)

	_, _, err = compare(t.Context(), t, dir, "-bench", "Priority", "-update", "-count", "1")
	require.NoError(t, err)
	content, err = os.ReadFile(filepath.Join(dir, "benchmarks", "results", "performance.md"))
	require.NoError(t, err)
	assert.Regexp(t, "Measured again on .* by `go run ./benchmarks/compare -bench 'Priority' -update -count 1` .*: Priority.", string(content))
	assert.Contains(t, string(content), "| Get | ", "the rest stays")

	elsewhere := filepath.Join(t.TempDir(), "out")
	_, _, err = compare(t.Context(), t, dir, "-from", filepath.Join(dir, "benchmarks", "results", document.ResultsName), "-out", elsewhere)
	require.NoError(t, err)
	assert.FileExists(t, filepath.Join(elsewhere, "performance.md"))
}

func TestPartialRunWritesNoDocuments(t *testing.T) {
	dir := project(t, getAndRead)
	file := filepath.Join(dir, "own.json")
	for _, arguments := range [][]string{{"-quick"}, {"-bench", "Get|ScaleHandlers"}} {
		stdout, _, err := compare(t.Context(), t, dir, append(arguments, "-count", "1", "-json", file)...)
		require.NoError(t, err)
		assert.Regexp(t, `Get\s+10.00ns\s+client-go\s+30.00ns\s+3\.00×`, stdout)
		assert.Equal(t, arguments[0] == "-bench", strings.Contains(stdout, "ScaleHandlers"))
		assert.FileExists(t, file)
	}
	assert.NoDirExists(t, filepath.Join(dir, "benchmarks", "results"))
	assert.NoDirExists(t, filepath.Join(dir, "bin"))
}

func TestFailedRunKeepsItsResults(t *testing.T) {
	dir := project(t, `
func BenchmarkGet(b *testing.B) { both(b, 10, 30) }

func BenchmarkList(b *testing.B) { b.Fatal("no such Pod") }
`)
	stdout, stderr, err := compare(t.Context(), t, dir, "-count", "1")
	assert.ErrorContains(t, err, "no such Pod")
	assert.Regexp(t, `Get\s+10.00ns`, stdout)
	assert.Contains(t, stderr, "what was measured until then is in "+filepath.Join(dir, "bin", "compare.json"))
	assert.NoDirExists(t, filepath.Join(dir, "benchmarks", "results"))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = compare(ctx, t, dir)
	assert.ErrorIs(t, err, context.Canceled)
}

// guardedBenchmarks are all that have guarded targets. The first takes as long as
// it says.
func guardedBenchmarks(handlers1 string) string {
	byFunction := map[string][]string{}
	var functions []string
	for _, one := range target.All() {
		if !one.Guarded {
			continue
		}
		function, rest, _ := strings.Cut(one.Name, "/")
		if byFunction[function] == nil {
			functions = append(functions, function)
		}
		cost := "1"
		if one.Name == "EventPipeline/handlers=1" {
			cost = handlers1
		}
		line := "\tboth(b, " + cost + ", 1000)\n"
		if rest != "" {
			line = "\tb.Run(\"" + rest + "\", func(b *testing.B) { both(b, " + cost + ", 1000) })\n"
		}
		byFunction[function] = append(byFunction[function], line)
	}
	var source strings.Builder
	for _, function := range functions {
		source.WriteString("func Benchmark" + function + "(b *testing.B) {\n" + strings.Join(byFunction[function], "") + "}\n\n")
	}
	return source.String() + `
func first(then float64, n int) float64 {
	if slow(n) {
		return then
	}
	return 1
}
`
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name, cost string
		fails      bool
		again      bool
	}{
		{"all are reached", "1", false, false},
		{"one is missed, with the room that there is", "280", false, false},
		{"one is missed by chance", "first(500, 3)", false, true},
		{"one is missed", "500", true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := project(t, guardedBenchmarks(test.cost))
			stdout, stderr, err := compare(t.Context(), t, dir, "-check", "-benchtime", "1x")
			if test.fails {
				assert.ErrorContains(t, err, "below 80 % of their targets, twice: EventPipeline/handlers=1 (2.00× of 4×)")
			} else {
				assert.NoError(t, err)
			}
			assert.Equal(t, test.again, strings.Contains(stderr, "1 of these are below 80 % of their targets; measuring them again"), stderr)
			assert.Contains(t, stdout, "ListSelector")
			assert.NoDirExists(t, filepath.Join(dir, "benchmarks", "results"))
		})
	}
}

func TestOptions(t *testing.T) {
	for wrong, want := range map[string]string{
		"-quick -check":      "exclude each other",
		"-quick -bench Get":  "exclude each other",
		"-count -1":          "-count must be positive, got -1",
		"-bench (":           "-bench: error parsing regexp",
		"Get":                `there are no arguments but flags, got ["Get"]`,
		"-unknown":           "flag provided but not defined",
		"-from x -bench Get": "exclude each other",
		"-regress -check":    "exclude each other",
		"-regress -update":   "-update is for -bench",
		"-update":            "-update is for -bench",
	} {
		var stderr bytes.Buffer
		_, err := parse(strings.Fields(wrong), &stderr)
		assert.Error(t, err, wrong)
		assert.Contains(t, stderr.String(), want)
	}
	var stderr bytes.Buffer
	_, err := parse([]string{"-help"}, &stderr)
	assert.Error(t, err)
	assert.Contains(t, stderr.String(), "usage: go run ./benchmarks/compare")

	o, err := parse(nil, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, options{project: ".", count: 6, benchtime: "0.3s", json: "bin/compare.json", out: "benchmarks/results"}, *o)
	o, err = parse([]string{"-quick", "-out", "x"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, options{project: ".", quick: true, count: 3, benchtime: "0.1s", json: "bin/compare.json", out: "x"}, *o)
}

func TestAlternatives(t *testing.T) {
	for pattern, want := range map[string][]string{
		"Get|List":               {"Get|List"},
		"Get|DropIn/ListerList":  {"Get", "DropIn/ListerList"},
		"DropIn/(Get|List)|Sync": {"DropIn/(Get|List)", "Sync"},
		"A/[x|y]":                {"A/[x|y]"},
	} {
		assert.Equal(t, want, alternatives(pattern), pattern)
	}
	dir := project(t, getAndRead)
	stdout, _, err := compare(t.Context(), t, dir, "-bench", "Get|ScaleHandlers/handlers=4", "-count", "1")
	require.NoError(t, err)
	assert.Regexp(t, `Get\s+10`, stdout)
	assert.Contains(t, stdout, "handlers=4")
	assert.NotContains(t, stdout, "handlers=1 ")
}

// TestCommand runs what users do.
func TestCommand(t *testing.T) {
	command := func(arguments ...string) (string, error) {
		run := exec.CommandContext(t.Context(), "go", append([]string{"run", "./benchmarks/compare"}, arguments...)...)
		run.Dir = "../.."
		output, err := run.CombinedOutput()
		return string(output), err
	}
	output, err := command("-help")
	require.NoError(t, err, output)
	assert.Contains(t, output, "usage: go run ./benchmarks/compare")
	output, err = command("-count", "-1")
	assert.Error(t, err)
	assert.Contains(t, output, "compare: -count must be positive, got -1")
	output, err = command("-from", "none.json")
	assert.Error(t, err)
	assert.Contains(t, output, "compare: load the results: open none.json")
}
