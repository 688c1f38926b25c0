// Precision prints what informervet finds in a program, one finding a line, for a reader to
// judge: see the verdicts next to this file.
//
//	go run ./internal/precision -C ../karmada ./pkg/...
//
// Other modules are checked from their source, so nothing is compiled. With -way, the lines
// after a finding are the calls down to the write.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubetyped/informer/cmd/internal/load"
	"github.com/kubetyped/informer/cmd/internal/vet"
)

func main() {
	dir := flag.String("C", ".", "the `folder` of the program")
	way := flag.Bool("way", false, "print the way to each write, too")
	flag.Parse()
	if err := run(context.Background(), *dir, *way, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "precision:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, way bool, patterns []string, out io.Writer) error {
	start := time.Now()
	loaded, err := load.Load(ctx, load.Config{Dir: dir, Source: true}, patterns)
	if err != nil {
		return err
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	runner := &load.Runner{Analyzers: vet.Analyzers}
	skipped := 0
	var lines []string
	for _, p := range loaded.Packages {
		found, err := runner.Check(loaded, p)
		if err != nil {
			skipped++
			if !errors.Is(err, load.ErrImports) {
				fmt.Fprintln(os.Stderr, "precision: skipped:", err)
			}
		}
		for _, f := range found {
			if loaded.Matched[p.ID] {
				lines = append(lines, line(f, root, way))
			}
		}
		loaded.Forget(p)
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	for _, l := range lines {
		fmt.Fprintln(out, l)
	}
	fmt.Fprintf(out, "%d packages, %d skipped, %d findings, %v\n", len(loaded.Packages), skipped, len(lines), time.Since(start).Round(time.Second))
	return nil
}

// line returns what is printed of a finding.
func line(f load.Finding, root string, way bool) string {
	at := f.Set.Position(f.Pos)
	l := fmt.Sprintf("%s:%d\t%s\t%s", relative(root, at.Filename), at.Line, f.Analyzer, f.Message)
	if way {
		for _, r := range f.Related {
			at := f.Set.Position(r.Pos)
			l += fmt.Sprintf("\n\t%s:%d %s", relative(root, at.Filename), at.Line, r.Message)
		}
	}
	return l
}

func relative(root, name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, root), "/")
}
