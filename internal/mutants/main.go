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

	"github.com/kubetyped/informer/internal/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.StringVar(&o.root, "root", ".", "the folder of the module")
	flag.IntVar(&o.seeds, "seeds", 2000, "how many seeds a suite runs at most")
	some := flag.String("run", "", "of which bugs: a regular expression that matches their names, files or suites")
	flag.BoolVar(&o.markdown, "markdown", false, "print a table in Markdown")
	flag.BoolVar(&o.update, "update", false, "write the table into docs/reliability.md; what was not run stays as it is there")
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
	seeds            int
	some             *regexp.Regexp
	markdown, update bool
}

func (o options) document() string { return filepath.Join(o.root, "docs", "reliability.md") }

// run judges the mutations, and tells of them.
func (o options) run(ctx context.Context) error {
	if o.update {
		if err := report.Check(o.document(), maker); err != nil {
			return err
		}
	}
	verdicts, err := o.judgeAll(ctx)
	rows := make([][]string, 0, len(verdicts))
	for _, v := range verdicts {
		rows = append(rows, v.row(o.seeds))
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

// judgeAll judges the mutations that are chosen. With an error, it returns what it has
// got until then.
func (o options) judgeAll(ctx context.Context) ([]verdict, error) {
	folder, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // it is in the folder for temporary files
	programs := map[string]program{}
	var verdicts []verdict
	var errs []error
	for i, m := range all() {
		if !o.some.MatchString(m.bug) && !o.some.MatchString(m.file) && !o.some.MatchString(m.suite.test) {
			continue
		}
		p, built := programs[m.suite.folder]
		if !built {
			if p.binary, err = build(ctx, o.root, m.suite.folder, folder, all()); err != nil {
				return verdicts, errors.Join(append(errs, err)...)
			}
			p.folder = filepath.Join(o.root, filepath.FromSlash(m.suite.folder))
			programs[m.suite.folder] = p
		}
		v, err := p.judge(ctx, i+1, m, o.seeds)
		if err != nil {
			err = fmt.Errorf("%q: %w", m.bug, err)
			_, _ = fmt.Fprintln(os.Stderr, err)
			errs = append(errs, err)
			continue
		}
		verdicts = append(verdicts, v)
		_, _ = fmt.Fprintf(os.Stderr, "%q: %q, in %v\n", m.bug, v.row(o.seeds)[1:], v.took.Round(time.Second))
	}
	return verdicts, errors.Join(errs...)
}
