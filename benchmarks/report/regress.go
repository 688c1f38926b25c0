package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubetyped/informer/benchmarks/report/internal/baseline"
	"github.com/kubetyped/informer/benchmarks/report/internal/document"
	"github.com/kubetyped/informer/benchmarks/report/internal/measure"
	"github.com/kubetyped/informer/benchmarks/report/internal/regression"
	"github.com/kubetyped/informer/benchmarks/report/internal/results"
)

// baselines is the file of the commits to compare with.
const baselines = "benchmarks/baseline.txt"

// data are the folders of what benchmarks read. A commit is measured with those of the
// checkout: names that are longer and objects that are larger take more time on both sides.
var data = []string{"benchmarks/internal/cluster", "internal/test/pods"}

// What seems to be worse is measured again in so many times as many rounds, so many times,
// but not when so much time has passed already.
const (
	moreRounds    = 3
	confirmations = 2
	patience      = 4 * time.Minute
)

// findRegressions measures the families of the file of baselines and their commits, in turns. It
// measures those that seem to be worse again, in more rounds and with client-go as the control,
// and returns an error if one is worse for sure then, and once more.
func (o *options) findRegressions(ctx context.Context, stdout, stderr io.Writer) error {
	families, err := baseline.Load(filepath.Join(o.project, baselines))
	if err != nil {
		return err
	}
	if o.bench != "" {
		wanted := regexp.MustCompile(o.bench) // was looked at with the options
		families = slices.DeleteFunc(families, func(f baseline.Family) bool { return !wanted.MatchString(f.Name) })
		if len(families) == 0 {
			return fmt.Errorf("%s has no family that %q matches", baselines, o.bench)
		}
	}
	temporary, err := os.MkdirTemp("", "regress-")
	if err != nil {
		return err
	}
	r := regressions{options: o, ctx: ctx, temporary: temporary, stderr: stderr, suites: map[string]*measure.Suite{}}
	return errors.Join(r.run(families, stdout), os.RemoveAll(temporary))
}

// regressions is a run of findRegressions.
type regressions struct {
	*options
	ctx       context.Context
	temporary string // a folder
	stderr    io.Writer
	suites    map[string]*measure.Suite // by commit; "" is the checkout
}

func (r *regressions) run(families []baseline.Family, stdout io.Writer) error {
	for _, f := range append([]baseline.Family{{}}, families...) {
		if err := r.build(f.Commit); err != nil {
			return err
		}
	}
	began := time.Now()
	var all []regression.Row
	var suspects []suspect
	for i, f := range families {
		fmt.Fprintf(r.stderr, "[%d/%d] %s, beside %s\n", i+1, len(families), f.Name, f.Commit)
		control := f.Control
		f.Control = ""
		rows, err := r.measure(f, r.count)
		if err != nil {
			return err
		}
		f.Control = control
		all = append(all, rows...)
		if s := (suspect{f, slices.DeleteFunc(rows, func(row regression.Row) bool { return !row.Worse })}); len(s.rows) > 0 {
			suspects = append(suspects, s)
		}
	}
	slices.SortStableFunc(suspects, func(a, b suspect) int { return cmp.Compare(b.worst(), a.worst()) })
	var worse []string
	for _, s := range suspects {
		if time.Since(began) > patience {
			fmt.Fprintf(r.stderr, "something in %s seems to be worse; there is no time to measure it again\n", s.family.Name)
			continue
		}
		fmt.Fprintf(r.stderr, "something in %s seems to be worse; measuring it again\n", s.family.Name)
		rows, err := r.confirm(s)
		if err != nil {
			return err
		}
		for _, row := range s.rows { // it was not measured again as worse, unless it is in rows
			all[slices.IndexFunc(all, row.Same)].WorseForSure = false
		}
		for _, row := range rows {
			worse = append(worse, document.Regression(&row))
			all[slices.IndexFunc(all, row.Same)] = row
		}
	}
	if err := document.Regressions(all).WriteText(stdout); err != nil {
		return err
	}
	fmt.Fprintf(r.stderr, "measured %d families in %s\n", len(families), time.Since(began).Round(time.Second))
	if len(worse) > 0 {
		return fmt.Errorf("worse than at the commits of %s:\n%s", baselines, strings.Join(worse, "\n"))
	}
	return nil
}

// suspect is what seems to be worse in a family.
type suspect struct {
	family baseline.Family
	rows   []regression.Row
}

// worst returns how many times as long the worst of it takes, or a large number if it
// allocates more.
func (s *suspect) worst() float64 {
	most := 0.0
	for _, row := range s.rows {
		if row.Ratio.Center == 0 {
			return math.Inf(1)
		}
		most = max(most, row.Ratio.Center)
	}
	return most
}

// confirm measures again what seems to be worse, and returns what is each time.
func (r *regressions) confirm(s suspect) ([]regression.Row, error) {
	for range confirmations {
		f := s.family
		f.Pattern = regression.Pattern(s.rows)
		rows, err := r.measure(f, moreRounds*r.count)
		if err != nil {
			return nil, err
		}
		s.rows = slices.DeleteFunc(rows, func(row regression.Row) bool {
			return !row.WorseForSure || !slices.ContainsFunc(s.rows, row.Same)
		})
		if len(s.rows) == 0 {
			return nil, nil
		}
	}
	return s.rows, nil
}

// build builds the benchmarks of a commit, which get the data of the checkout.
func (r *regressions) build(commit string) error {
	if r.suites[commit] != nil {
		return nil
	}
	project := r.project
	if commit != "" {
		project = filepath.Join(r.temporary, commit)
		for _, arguments := range [][]string{
			{"clone", "--quiet", "--shared", "--no-checkout", r.project, project},
			{"-C", project, "-c", "advice.detachedHead=false", "checkout", "--quiet", commit},
		} {
			if output, err := exec.CommandContext(r.ctx, "git", arguments...).CombinedOutput(); err != nil {
				return fmt.Errorf("check out commit %s of %s, for which the clone has to have its history: %w\n%s", commit, baselines, err, output)
			}
		}
		if err := copyData(r.project, project); err != nil {
			return err
		}
		fmt.Fprintf(r.stderr, "building the benchmarks of %s\n", commit)
	}
	folder, err := filepath.Abs(filepath.Join(project, "benchmarks"))
	if err != nil {
		return err
	}
	r.suites[commit], err = measure.Build(r.ctx, folder, filepath.Join(r.temporary, "suite"+commit+".test"))
	return err
}

// copyData replaces the data of benchmarks in one clone by those of another.
func copyData(from, to string) error {
	for _, folder := range data {
		source, copied := filepath.Join(from, folder), filepath.Join(to, folder)
		if _, err := os.Stat(source); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := errors.Join(os.RemoveAll(copied), os.CopyFS(copied, os.DirFS(source))); err != nil {
			return fmt.Errorf("copy the data of benchmarks: %w", err)
		}
	}
	return nil
}

// measure runs a family, and what controls it, before and now in turns.
func (r *regressions) measure(f baseline.Family, rounds int) ([]regression.Row, error) {
	var before, now, controlBefore, controlNow results.Results
	for round := range rounds {
		turns := []struct {
			commit        string
			ours, control *results.Results
		}{{f.Commit, &before, &controlBefore}, {"", &now, &controlNow}}
		if round%2 == 1 {
			slices.Reverse(turns)
		}
		for _, turn := range turns {
			if err := r.suites[turn.commit].Sample(r.ctx, f.Pattern, r.benchtime, turn.ours); err != nil {
				return nil, err
			}
		}
		if f.Control == "" {
			continue
		}
		for _, turn := range turns {
			if err := r.suites[turn.commit].Sample(r.ctx, f.Control, r.benchtime, turn.control); err != nil {
				return nil, err
			}
		}
	}
	return regression.Judge(&before, &now, regression.Control(&controlBefore, &controlNow)), nil
}
