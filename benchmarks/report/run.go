package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/kubetyped/informer/benchmarks/report/internal/comparison"
	"github.com/kubetyped/informer/benchmarks/report/internal/document"
	"github.com/kubetyped/informer/benchmarks/report/internal/measure"
	"github.com/kubetyped/informer/benchmarks/report/internal/results"
	"github.com/kubetyped/informer/benchmarks/report/internal/target"
)

// quick is what -quick measures: what the README has, but for what takes long.
const quick = "^Benchmark(EventPipeline|InitialSync|Get|ListerGet|ByIndex|List|ListSelector|Update|Latency|WorkQueue)$"

// processors are those of benchmarks whose results depend on their number by
// design: one, and doubled up to all there are.
func processors() map[string][]int {
	all := []int{1}
	for n := 2; n <= runtime.NumCPU(); n *= 2 {
		all = append(all, n)
	}
	return map[string][]int{"BenchmarkWatchDecode": all}
}

// run does what the options say. The table goes to stdout, the progress to
// stderr. If ctx ends it writes the table of what was measured until then.
func (o *options) run(ctx context.Context, stdout, stderr io.Writer) error {
	if o.from != "" {
		r, err := results.Load(o.from)
		if err != nil {
			return err
		}
		return o.write(r, stdout)
	}
	suites, clean, err := o.build(ctx, stderr)
	if err != nil {
		return err
	}
	defer clean()
	if o.check {
		return o.guard(ctx, suites, stdout, stderr)
	}
	patterns := []string{"."}
	switch {
	case o.quick:
		patterns = []string{quick}
	case o.bench != "":
		patterns = []string{o.bench}
	}
	r, failed := o.measure(ctx, suites, patterns, stderr)
	if failed != nil {
		fmt.Fprintf(stderr, "what was measured until then is in %s; -from %[1]s makes documents of it\n", o.json)
		o.out = "" // they are to be of a run that has succeeded
	}
	return errors.Join(failed, o.write(r, stdout))
}

// build builds the benchmarks: those beside client-go and, if they are needed,
// those of other modules. clean removes what was built.
func (o *options) build(ctx context.Context, stderr io.Writer) (suites []*measure.Suite, clean func(), err error) {
	temporary, err := os.MkdirTemp("", "compare-")
	if err != nil {
		return nil, nil, err
	}
	clean = func() {
		if err := os.RemoveAll(temporary); err != nil {
			fmt.Fprintln(stderr, "compare:", err)
		}
	}
	defer func() {
		if err != nil {
			clean()
		}
	}()
	folders := []string{"benchmarks"}
	if !o.quick && !o.check {
		folders = append(folders, "benchmarks/peers")
	}
	for i, folder := range folders {
		fmt.Fprintf(stderr, "building the benchmarks in %s\n", folder)
		folder, err := filepath.Abs(filepath.Join(o.project, folder))
		if err != nil {
			return nil, nil, err
		}
		suite, err := measure.Build(ctx, folder, filepath.Join(temporary, fmt.Sprintf("suite%d.test", i)))
		if err != nil {
			return nil, nil, err
		}
		suites = append(suites, suite)
	}
	return suites, clean, nil
}

// measure runs benchmarks and saves what they print as it comes.
func (o *options) measure(ctx context.Context, suites []*measure.Suite, patterns []string, stderr io.Writer) (*results.Results, error) {
	r := &results.Results{
		Started:   time.Now().UTC().Truncate(time.Second),
		Command:   o.command(),
		Commit:    o.commit(ctx),
		Benchtime: o.benchtime,
		Machine:   results.Machine{Processors: runtime.GOMAXPROCS(0), System: runtime.GOOS + "/" + runtime.GOARCH},
	}
	for _, suite := range suites {
		versions, err := suite.Versions()
		if err != nil {
			return r, err
		}
		for _, v := range versions {
			if r.Version(v.Name) == "" {
				r.Versions = append(r.Versions, v)
			}
		}
	}
	if err := os.MkdirAll(filepath.Dir(o.json), 0o755); err != nil {
		return r, err
	}
	run := measure.Run{
		Patterns: patterns, Rounds: o.count, Benchtime: o.benchtime, Processors: processors(), Progress: stderr,
		Save: func(r *results.Results) error { return r.Save(o.json) },
	}
	return r, run.Measure(ctx, suites, r)
}

// command returns what to type to do the same.
func (o *options) command() string {
	words := []string{"go run ./benchmarks/compare"}
	switch {
	case o.quick:
		words = append(words, "-quick")
	case o.check:
		words = append(words, "-check")
	case o.bench != "":
		words = append(words, "-bench '"+o.bench+"'")
	}
	var normal options
	normal.quick, normal.check = o.quick, o.check
	normal.fill()
	if o.count != normal.count {
		words = append(words, fmt.Sprintf("-count %d", o.count))
	}
	if o.benchtime != normal.benchtime {
		words = append(words, "-benchtime "+o.benchtime)
	}
	return strings.Join(words, " ")
}

// commit returns what is measured, with a "+" if files differ from it, and
// "unknown" where git does not know.
func (o *options) commit(ctx context.Context) string {
	output, err := exec.CommandContext(ctx, "git", "-C", o.project, "describe", "--always", "--dirty=+", "--exclude=*").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(output))
}

// write prints the table and, if there is a folder for them, writes documents.
func (o *options) write(r *results.Results, stdout io.Writer) error {
	rows := comparison.Rows(r, target.All())
	fmt.Fprintln(stdout, document.Conditions(r))
	fmt.Fprintf(stdout, "± is the interval of the median, with a confidence of %.0f %%; ~ is no difference that can be told from chance.\n\n", 100*comparison.Confidence(r.Rounds))
	if err := document.Comparisons(r, rows, document.Loud).WriteText(stdout); err != nil {
		return err
	}
	if o.out == "" {
		return nil
	}
	if err := document.Performance(o.out, r); err != nil {
		return err
	}
	return o.writeREADME(r)
}

// writeREADME writes the README's table, if the documents are those that belong
// to it.
func (o *options) writeREADME(r *results.Results) error {
	docs, err := filepath.Abs(filepath.Join(o.project, "docs"))
	if err != nil {
		return err
	}
	out, err := filepath.Abs(o.out)
	if err != nil || out != docs {
		return err
	}
	return document.README(filepath.Join(o.project, "README.md"), r)
}

// guard measures what has a guarded target. What is below it, with room, is
// measured again, and is an error if it is still.
func (o *options) guard(ctx context.Context, suites []*measure.Suite, stdout, stderr io.Writer) error {
	patterns := guarded(target.All())
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
		for _, row := range rows {
			if !row.Nearly() {
				below = append(below, *row.Target)
			}
		}
		if len(below) == 0 {
			return nil
		}
		patterns = guarded(below)
		if attempt == 0 {
			fmt.Fprintf(stderr, "%d of these are below %.0f %% of their targets; measuring them again\n", len(below), 100*target.Room)
		}
	}
	return fmt.Errorf("below %.0f %% of their targets, twice: %s", 100*target.Room, strings.Join(patterns, ", "))
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
