package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"

	"github.com/kubetyped/informer/internal/test/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.StringVar(&o.root, "root", ".", "the folder of the module")
	flag.IntVar(&o.seeds, "seeds", 2000, "how many seeds a suite runs at most; with 0, the bugs are only put in and built")
	some := flag.String("run", "", "of which bugs: a regular expression that matches their names, functions or suites")
	flag.BoolVar(&o.check, "check", false, "fail for a bug that is not found")
	flag.BoolVar(&o.none, "none", false, "put no bugs in: the suites, with locks that yield, have to pass")
	flag.IntVar(&o.first, "first", 1, "the first seed, with -none")
	flag.BoolVar(&o.markdown, "markdown", false, "print a table in Markdown")
	flag.BoolVar(&o.update, "update", false, "write the table into internal/test/mutants/results.md; what was not run stays as it is there")
	flag.Parse()
	var err error
	if o.some, err = regexp.Compile(*some); err == nil {
		err = o.run(ctx)
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// options are what flags say.
type options struct {
	root             string
	seeds, first     int
	some             *regexp.Regexp
	none, check      bool
	markdown, update bool
}

func (o options) document() string {
	return filepath.Join(o.root, "internal", "test", "mutants", "results.md")
}

// run judges the mutations, and reports the verdicts.
func (o options) run(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // it is in the folder for temporary files
	built := &programs{options: o, folder: folder, built: map[string]program{}}
	if o.none {
		return built.runSound(ctx)
	}
	if o.update {
		if err := errors.Join(report.Check(o.document(), scorer), report.Check(o.document(), maker)); err != nil {
			return err
		}
	}
	verdicts, err := built.judgeAll(ctx)
	rows := make([][]string, 0, len(verdicts))
	for _, v := range verdicts {
		rows = append(rows, v.row(o.seeds))
	}
	if o.seeds == 0 {
		return err
	}
	if o.markdown {
		fmt.Print(table(rows).Markdown())
	} else {
		err = errors.Join(err, table(rows).WriteText(os.Stdout))
	}
	if o.update && len(rows) > 0 {
		if err := update(o.document(), rows); err != nil {
			return err
		}
	}
	return err
}

// programs are the test binaries of packages, by their folders. They are made when they
// are asked for.
type programs struct {
	options
	folder string // for built files
	built  map[string]program
}

// of returns the program of a suite.
func (p *programs) of(ctx context.Context, s suite) (program, error) {
	if done, ok := p.built[s.folder]; ok {
		return done, nil
	}
	binary, err := build(ctx, p.root, s.folder, p.folder, all())
	if err != nil {
		return program{}, err
	}
	p.built[s.folder] = program{binary, filepath.Join(p.root, filepath.FromSlash(s.folder)), map[suite]bool{}}
	return p.built[s.folder], nil
}

// runSound runs the suites that are chosen without a bug.
func (p *programs) runSound(ctx context.Context) error {
	var errs []error
	done := map[suite]bool{}
	for _, m := range all() {
		if done[m.suite] || !p.some.MatchString(m.suite.test) {
			continue
		}
		done[m.suite] = true
		program, err := p.of(ctx, m.suite)
		if err != nil {
			return err
		}
		begun := time.Now()
		v, err := program.run(ctx, 0, m, p.first, p.seeds)
		if err == nil && v.seeds != 0 {
			err = fmt.Errorf("seed %d fails: %s", v.seeds, v.check)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m.suite.test, err))
			continue
		}
		_, _ = fmt.Fprintf(os.Stderr, "%s: %d seeds pass, in %v\n", m.suite.test, p.seeds, time.Since(begun).Round(time.Second))
	}
	return errors.Join(errs...)
}

// judgeAll judges the mutations that are chosen. With an error, it returns what it has
// got until then.
func (p *programs) judgeAll(ctx context.Context) ([]verdict, error) {
	var verdicts []verdict
	var errs []error
	for i, m := range all() {
		if !p.some.MatchString(m.bug) && !p.some.MatchString(m.in) && !p.some.MatchString(m.suite.test) {
			continue
		}
		program, err := p.of(ctx, m.suite)
		if err != nil {
			return verdicts, errors.Join(append(errs, err)...)
		}
		if p.seeds == 0 {
			continue
		}
		v, err := program.judge(ctx, i+1, m, p.seeds)
		if err == nil && p.check && v.seeds == 0 {
			err = fmt.Errorf("%d seeds of %s do not find it", p.seeds, m.suite.test)
		}
		if err != nil {
			err = fmt.Errorf("%q: %w", m.bug, err)
			_, _ = fmt.Fprintln(os.Stderr, err)
			errs = append(errs, err)
			continue
		}
		verdicts = append(verdicts, v)
		_, _ = fmt.Fprintf(os.Stderr, "%q: %q, in %v\n", m.bug, v.row(p.seeds)[1:], v.took.Round(time.Second))
	}
	return verdicts, errors.Join(errs...)
}
