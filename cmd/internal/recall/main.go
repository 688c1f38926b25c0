// Recall measures what cachemutation finds: it removes one DeepCopy() of a program at a
// time, analyses the package and those above it again, and prints the findings that
// are new.
//
//	go run ./internal/recall -C ../kubernetes ./pkg/controller/...
//	go run ./internal/recall -C ../karmada -sample 40 ./pkg/...
//
// Each line has the position of the copy, how many findings there are, and the first. Whether
// a copy was needed is for a reader to judge: see the verdicts next to this file.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"

	"github.com/kubetyped/informer/cmd/internal/cachemutation"
	"github.com/kubetyped/informer/cmd/internal/load"
)

func main() {
	dir := flag.String("C", ".", "the `folder` of the program")
	sample := flag.Int("sample", 0, "look at `n` copies alone, chosen at random with a fixed seed, in the order of the program")
	flag.Parse()
	if err := run(context.Background(), *dir, *sample, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "recall:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, sample int, patterns []string, out io.Writer) error {
	start := time.Now()
	loaded, err := load.Load(ctx, load.Config{Dir: dir, Source: true}, patterns)
	if err != nil {
		return err
	}
	r := &recall{Loaded: loaded, runner: &load.Runner{Analyzers: []*analysis.Analyzer{cachemutation.Analyzer}}, before: map[string]bool{}}
	var copies []deepCopy
	for _, p := range loaded.Packages {
		found, err := r.runner.Check(r.Loaded, p)
		if err != nil {
			fmt.Fprintln(os.Stderr, "recall: skipped:", err)
			continue
		}
		for _, f := range found {
			r.before[line(f)] = true
		}
		if loaded.Matched[p.ID] {
			copies = append(copies, copiesOf(p)...)
		}
		loaded.Forget(p)
	}
	if len(copies) == 0 {
		return fmt.Errorf("no DeepCopy() in the packages of %q in %s: a module with a folder vendor needs GOFLAGS=-mod=mod", patterns, dir)
	}
	found, all := 0, len(copies)
	copies = chosen(copies, sample)
	for _, c := range copies {
		all, err := r.without(c)
		switch {
		case err != nil:
			fmt.Fprintf(out, "%s\t-\tdoes not compile: %v\n", c.at, err)
		case len(all) == 0:
			fmt.Fprintf(out, "%s\t0\n", c.at)
		default:
			found++
			fmt.Fprintf(out, "%s\t%d\t%s\n", c.at, len(all), all[0])
		}
	}
	fmt.Fprintf(out, "%d copies of %d, %d found, %v\n", len(copies), all, found, time.Since(start).Round(time.Second))
	return nil
}

// chosen returns n copies, or all if n is 0: the same of a program each time.
func chosen(copies []deepCopy, n int) []deepCopy {
	if n == 0 || n >= len(copies) {
		return copies
	}
	order := rand.New(rand.NewPCG(1, 1)).Perm(len(copies))[:n]
	slices.Sort(order)
	var out []deepCopy
	for _, i := range order {
		out = append(out, copies[i])
	}
	return out
}

// recall analyses a program again and again.
type recall struct {
	*load.Loaded
	runner *load.Runner
	before map[string]bool
}

// line names a finding by its line, as columns move.
func line(f load.Finding) string {
	at := f.Set.Position(f.Pos)
	return fmt.Sprintf("%s:%d: %s", at.Filename, at.Line, f.Message)
}

// without returns the findings in a package without one copy, and in those above it.
func (r *recall) without(c deepCopy) (found []string, err error) {
	r.Overlay = map[string][]byte{c.file: c.text}
	defer func() { r.Overlay = nil }()
	changed := map[*packages.Package]bool{}
	for _, p := range r.Packages {
		if p != c.pkg && !importsAny(p, changed) || p.Types == nil {
			continue
		}
		changed[p] = true
		types := p.Types
		defer func() { p.Types = types }()
		of, err := r.runner.Check(r.Loaded, p)
		r.Forget(p)
		if err != nil {
			return nil, err
		}
		for _, f := range of {
			if at := line(f); !r.before[at] && !slices.Contains(found, at) {
				found = append(found, at)
			}
		}
	}
	return found, nil
}

func importsAny(p *packages.Package, changed map[*packages.Package]bool) bool {
	for _, imported := range p.Imports {
		if changed[imported] {
			return true
		}
	}
	return false
}
