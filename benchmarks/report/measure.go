package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/kubetyped/informer/benchmarks/report/internal/measure"
	"github.com/kubetyped/informer/benchmarks/report/internal/results"
)

// processors are those of benchmarks whose results depend on their number by
// design: one, and doubled up to all there are.
func processors() map[string]string {
	all := "1"
	for n := 2; n <= runtime.NumCPU(); n *= 2 {
		all += fmt.Sprintf(",%d", n)
	}
	return map[string]string{"BenchmarkWatchDecode": all}
}

// slow are the benchmarks that take a quarter of an hour a round. A document that is kept by hand has
// their results.
var slow = []string{"BenchmarkKeptProcess"}

// build builds the benchmarks of the folders that have some that one of patterns
// matches. clean removes what was built.
func (o *options) build(ctx context.Context, patterns []string, stderr io.Writer) (suites []*measure.Suite, clean func(), err error) {
	temporary, err := os.MkdirTemp("", "compare-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() {
		if err := os.RemoveAll(temporary); err != nil {
			fmt.Fprintln(stderr, "compare:", err)
		}
	}
	defer func() {
		if err != nil {
			remove()
		}
	}()
	for i, name := range []string{"benchmarks", "benchmarks/peers"} {
		folder, err := filepath.Abs(filepath.Join(o.project, name))
		if err != nil {
			return nil, nil, err
		}
		if matches, err := measure.Matches(folder, patterns); err != nil {
			return nil, nil, err
		} else if !matches {
			continue // what it requires need not be there
		}
		fmt.Fprintf(stderr, "building the benchmarks in %s\n", name)
		suite, err := measure.Build(ctx, folder, filepath.Join(temporary, fmt.Sprintf("suite%d.test", i)))
		if err != nil {
			return nil, nil, err
		}
		suites = append(suites, suite)
	}
	return suites, remove, nil
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
		versions, err := suite.Versions(ctx)
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
		Patterns: patterns, Except: o.except(), Rounds: o.count, Benchtime: o.benchtime, Processors: processors(), Progress: stderr,
		Save: func(r *results.Results) error { return r.Save(o.json) },
	}
	return r, run.Measure(ctx, suites, r)
}

// except returns the benchmarks that are measured on request only.
func (o *options) except() []string {
	if o.bench != "" {
		return nil
	}
	return slow
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
	if o.update {
		words = append(words, "-update")
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
