package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/kubetyped/informer/benchmarks/report/internal/results"
)

// Run is a number of rounds. In each, every benchmark function runs once, in a separate process,
// and in that one side runs after the other. So the sides take turns, and other work of the
// machine hits both.
type Run struct {
	Patterns  []string // as go test -bench has them; none of them is run twice
	Except    []string // names of benchmark functions that are left out
	Rounds    int
	Benchtime string // as go test -benchtime has it
	// Processors are the numbers of processors that a benchmark function runs on, in turn, as go
	// test -cpu has them, for those that are not to run on all there are.
	Processors map[string]string
	Progress   io.Writer
	Save       func(*results.Results) error // is called after every process
}

// Measure adds to r the results that the benchmarks print. It continues after a benchmark that
// fails. It returns an error for each of these, for a pattern that matches nothing, and when ctx
// ends. Even then r holds the results so far.
func (run *Run) Measure(ctx context.Context, suites []*Suite, r *results.Results) error {
	steps, err := run.plan(ctx, suites)
	if err != nil {
		return err
	}
	var failed error
	began := time.Now()
	for round := range run.Rounds {
		for i, s := range steps {
			run.printProgress(round, i, steps, time.Since(began))
			start := time.Now()
			err := s.suite.run(ctx, s.pattern, run.Benchtime, run.Processors[s.name], func(result *benchfmt.Result) error {
				r.Machine.CPU = result.GetConfig("cpu")
				return r.Add(result, run.Processors[s.name] != "")
			})
			steps[i].took = time.Since(start)
			r.Rounds, r.Minutes = round+1, time.Since(began).Minutes()
			failed = errors.Join(failed, err, run.Save(r))
			if ctx.Err() != nil {
				return failed
			}
		}
	}
	fmt.Fprintf(run.Progress, "measured %d benchmarks in %s\n", len(steps), time.Since(began).Round(time.Second))
	return failed
}

// step is a benchmark function that is to run.
type step struct {
	suite   *Suite
	name    string
	pattern string
	took    time.Duration // in the round before
}

func (run *Run) plan(ctx context.Context, suites []*Suite) ([]step, error) {
	var steps []step
	for _, pattern := range run.Patterns {
		found := false
		for _, suite := range suites {
			names, err := suite.List(ctx, pattern)
			if err != nil {
				return nil, err
			}
			_, rest, nested := strings.Cut(pattern, "/")
			for _, name := range names {
				if slices.Contains(run.Except, name) {
					continue
				}
				found = true
				s := step{suite: suite, name: name, pattern: "^" + name + "$"}
				if nested {
					s.pattern += "/" + rest
				}
				steps = append(steps, s)
			}
		}
		if !found {
			return nil, fmt.Errorf("no benchmark has a name that %q matches", pattern)
		}
	}
	return steps, nil
}

// printProgress prints the benchmark that is about to run and, once it is known how long each
// takes, how much longer it will be.
func (run *Run) printProgress(round, i int, steps []step, passed time.Duration) {
	done, all := round*len(steps)+i, run.Rounds*len(steps)
	what := strings.TrimPrefix(strings.NewReplacer("^", "", "$", "").Replace(steps[i].pattern), "Benchmark")
	line := fmt.Sprintf("[%d/%d] round %d of %d: %s", done+1, all, round+1, run.Rounds, what)
	if left, ok := run.left(round, i, steps, passed); ok {
		line += fmt.Sprintf(", about %s left", left)
	}
	fmt.Fprintln(run.Progress, line)
}

// left estimates the rest of the run: from how long the benchmarks took last
// time or, in the first round, from the mean of those that have run.
func (run *Run) left(round, i int, steps []step, passed time.Duration) (time.Duration, bool) {
	if round == 0 {
		const enough = 3 // for a mean that says something
		if i < enough {
			return 0, false
		}
		mean := passed / time.Duration(i)
		return round10(mean * time.Duration(run.Rounds*len(steps)-i)), true
	}
	var all, rest time.Duration
	for j, s := range steps {
		all += s.took
		if j >= i {
			rest += s.took
		}
	}
	return round10(rest + all*time.Duration(run.Rounds-round-1)), true
}

// round10 rounds to ten seconds, which is more than an estimate knows.
func round10(d time.Duration) time.Duration {
	return max(d.Round(10*time.Second), 10*time.Second)
}
