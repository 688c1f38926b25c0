package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/kubetyped/informer/benchmarks/report/internal/document"
)

// options are those of the command line.
type options struct {
	project   string // its folder
	quick     bool
	check     bool
	regress   bool
	bench     string
	update    bool
	count     int
	benchtime string
	json      string
	out       string
	from      string
}

const usage = `usage: go run ./benchmarks/compare [flags]

Runs the benchmarks with the sides in turn, and prints a table: medians, how far
they can be trusted, how many times better this project is, and its targets.
Without -quick, -bench and -check it measures everything but KeptProcess, in about an
hour and a half, and writes benchmarks/results, and the tables of README and docs.

`

// parse reads the command line. It writes an error to stderr, with the usage if it is about a
// flag.
func parse(arguments []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	flags.StringVar(&o.project, "project", ".", "the folder of a clone of this project")
	flags.BoolVar(&o.quick, "quick", false, "measure some benchmarks beside client-go, in less than three minutes")
	flags.BoolVar(&o.check, "check", false, "measure some benchmarks, and fail if one is below 80 % of its target, twice, the second time in three times as many rounds")
	flags.BoolVar(&o.regress, "regress", false, "measure beside the commits that benchmarks/baseline.txt names, and fail if something takes more than 1.15 times as long for sure, or allocates more; with -bench, the families whose names it matches")
	flags.StringVar(&o.bench, "bench", "", "measure what this `regexp` matches, as with go test -bench")
	flags.BoolVar(&o.update, "update", false, "with -bench, put what was measured in the place of what benchmarks/results/performance.md and its charts have")
	flags.IntVar(&o.count, "count", 0, "the number of `rounds` (default 6, with -quick and -check 3, with -regress 2)")
	flags.StringVar(&o.benchtime, "benchtime", "", "for how long a benchmark runs in a round, as with go test (default 0.3s, with -quick, -check and -regress 0.1s)")
	flags.StringVar(&o.json, "json", "", "the `file` to write results to, as they come (default bin/compare.json)")
	flags.StringVar(&o.out, "out", "", "the `folder` to write performance.md and its charts to (default benchmarks/results, if everything is measured)")
	flags.StringVar(&o.from, "from", "", "measure nothing: read the results from this `file`")
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	err := o.validate(flags.Args())
	if err != nil {
		fmt.Fprintln(stderr, "compare:", err)
		return nil, err
	}
	o.fill()
	return o, nil
}

func (o *options) validate(rest []string) error {
	var failed error
	if len(rest) > 0 {
		failed = fmt.Errorf("there are no arguments but flags, got %q", rest)
	}
	modes := 0
	for _, set := range []bool{o.quick, o.check, o.regress, o.from != ""} {
		if set {
			modes++
		}
	}
	if modes > 1 || modes == 1 && o.bench != "" && !o.regress {
		failed = errors.Join(failed, errors.New("-quick, -check, -regress, -bench and -from exclude each other, but for -regress with -bench"))
	}
	if o.update && (o.bench == "" || o.regress) {
		failed = errors.Join(failed, errors.New("-update is for -bench; without either, everything is measured and written"))
	}
	if o.count < 0 {
		failed = errors.Join(failed, fmt.Errorf("-count must be positive, got %d", o.count))
	}
	for element := range strings.SplitSeq(o.bench, "/") {
		if _, err := regexp.Compile(element); err != nil {
			failed = errors.Join(failed, fmt.Errorf("-bench: %w", err))
		}
	}
	return failed
}

// fill sets what was not given.
func (o *options) fill() {
	short := o.quick || o.check || o.regress
	if o.count == 0 {
		o.count = 6
		if short {
			o.count = 3
		}
		if o.regress {
			o.count = 2
		}
	}
	if o.benchtime == "" {
		o.benchtime = "0.3s"
		if short {
			o.benchtime = "0.1s"
		}
	}
	if o.json == "" {
		o.json = filepath.Join(o.project, "bin", "compare.json")
	}
	if o.out == "" && !short && o.bench == "" {
		o.out = filepath.Join(o.project, filepath.FromSlash(document.Folder))
	}
}

// alternatives splits a pattern as go test -bench does, which takes A/x|B for A/x and B: at a |
// outside of brackets. One that has no parts stays whole.
func alternatives(pattern string) []string {
	if !strings.Contains(pattern, "/") {
		return []string{pattern}
	}
	var all []string
	depth, start := 0, 0
	for i, c := range pattern {
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '|':
			if depth == 0 {
				all = append(all, pattern[start:i])
				start = i + 1
			}
		}
	}
	return append(all, pattern[start:])
}
