package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/kubetyped/informer/benchmarks/report/internal/comparison"
	"github.com/kubetyped/informer/benchmarks/report/internal/document"
	"github.com/kubetyped/informer/benchmarks/report/internal/results"
	"github.com/kubetyped/informer/benchmarks/report/internal/target"
)

// quick is the pattern of -quick: the benchmarks of the README, except those that take long.
const quick = "^Benchmark(EventPipeline|InitialSync|Get|ListerGet|ByIndex|List|ListSelector|Update|Latency|WorkQueue)$"

// run does what the options say. The table goes to stdout, the progress to stderr. If ctx ends
// it writes the table of the results so far.
func (o *options) run(ctx context.Context, stdout, stderr io.Writer) error {
	if o.from != "" {
		r, err := results.Load(o.from)
		if err != nil {
			return err
		}
		return o.write(r, stdout)
	}
	if o.regress {
		return o.findRegressions(ctx, stdout, stderr)
	}
	patterns := []string{"."}
	switch {
	case o.quick:
		patterns = []string{quick}
	case o.check:
		patterns = guarded(target.All())
	case o.bench != "":
		patterns = alternatives(o.bench)
	}
	suites, clean, err := o.build(ctx, patterns, stderr)
	if err != nil {
		return err
	}
	defer clean()
	if o.check {
		return o.guard(ctx, suites, patterns, stdout, stderr)
	}
	r, failed := o.measure(ctx, suites, patterns, stderr)
	if ctx.Err() != nil {
		failed = errors.New("interrupted")
	}
	if failed != nil {
		fmt.Fprintf(stderr, "what was measured until then is in %s; -from %[1]s makes documents of it\n", o.json)
		o.out = "" // they are to be of a run that has succeeded
	} else if o.update {
		return o.renew(r, stdout)
	}
	return errors.Join(failed, o.write(r, stdout))
}

// renew writes the documents from the results that they show, after replacing those that r has
// measured again.
func (o *options) renew(r *results.Results, stdout io.Writer) error {
	o.out = filepath.Join(o.project, filepath.FromSlash(document.Folder))
	whole, err := results.Load(filepath.Join(o.out, document.ResultsName))
	if err != nil {
		return err
	}
	whole.Take(r)
	return o.write(whole, stdout)
}

// write prints the table and, if there is a folder for them, writes documents.
func (o *options) write(r *results.Results, stdout io.Writer) error {
	rows := comparison.Rows(r, target.All())
	fmt.Fprintln(stdout, document.Conditions(r))
	if r.Rounds > 1 {
		fmt.Fprintf(stdout, "± is the interval of the median, with a confidence of %.0f %%; ~ is no difference that can be told from chance.\n", 100*comparison.Confidence(r.Rounds))
	}
	fmt.Fprintln(stdout)
	if err := document.Comparisons(r, rows, document.Loud).WriteText(stdout); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\n%s\n", document.Reached(rows))
	if o.out == "" {
		return nil
	}
	if err := document.Performance(o.out, r); err != nil {
		return err
	}
	return o.writePages(r)
}

// writePages writes the tables of README and docs, if the documents are those of the
// project.
func (o *options) writePages(r *results.Results) error {
	ours, err := filepath.Abs(filepath.Join(o.project, filepath.FromSlash(document.Folder)))
	if err != nil {
		return err
	}
	out, err := filepath.Abs(o.out)
	if err != nil || out != ours {
		return err
	}
	return document.Pages(o.project, r)
}
