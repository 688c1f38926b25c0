package load

import (
	"fmt"
	"go/token"
	"go/types"
	"iter"
	"os"
	"reflect"
	"runtime/debug"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
)

// Finding is what an analyzer reports of a package.
type Finding struct {
	Package  string
	Analyzer string
	Set      *token.FileSet
	Types    *types.Package
	analysis.Diagnostic
}

// Runner runs analyzers on packages, and keeps their facts.
type Runner struct {
	Analyzers []*analysis.Analyzer
	facts     map[factKey]analysis.Fact
}

type factKey struct {
	of   any // a types.Object or a *types.Package
	fact reflect.Type
}

// Check computes the types of a package, and runs the analyzers on it.
func (r *Runner) Check(of *Loaded, p *packages.Package) ([]Finding, error) {
	if err := of.Check(p); err != nil {
		return nil, err
	}
	return r.Run(p)
}

// Run runs the analyzers on a package, after those that it imports. The error names the
// package if an analyzer fails or panics.
func (r *Runner) Run(p *packages.Package) (found []Finding, err error) {
	if r.facts == nil {
		r.facts = map[factKey]analysis.Fact{}
	}
	results := map[*analysis.Analyzer]any{}
	for _, a := range r.Analyzers {
		report := func(d analysis.Diagnostic) {
			found = append(found, Finding{p.ID, a.Name, p.Fset, p.Types, d})
		}
		if err := r.run(a, p, results, report); err != nil {
			return found, fmt.Errorf("%s cannot check package %s: %w", a.Name, p.PkgPath, err)
		}
	}
	return found, nil
}

func (r *Runner) run(a *analysis.Analyzer, p *packages.Package, results map[*analysis.Analyzer]any, report func(analysis.Diagnostic)) (err error) {
	if _, done := results[a]; done {
		return nil
	}
	for _, required := range a.Requires {
		if err := r.run(required, p, results, report); err != nil {
			return err
		}
	}
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("internal error: %v\n%s", reason, debug.Stack())
		}
	}()
	results[a], err = a.Run(r.pass(a, p, results, report))
	return err
}

func (r *Runner) pass(a *analysis.Analyzer, p *packages.Package, results map[*analysis.Analyzer]any, report func(analysis.Diagnostic)) *analysis.Pass {
	return &analysis.Pass{
		Analyzer: a, Fset: p.Fset, Files: p.Syntax, OtherFiles: p.OtherFiles, IgnoredFiles: p.IgnoredFiles,
		Pkg: p.Types, TypesInfo: p.TypesInfo, TypesSizes: p.TypesSizes, TypeErrors: p.TypeErrors,
		Module: module(p), ResultOf: results, Report: report, ReadFile: os.ReadFile,
		ImportObjectFact:  func(o types.Object, f analysis.Fact) bool { return r.fill(f, o) },
		ExportObjectFact:  func(o types.Object, f analysis.Fact) { r.facts[factKey{o, reflect.TypeOf(f)}] = f },
		ImportPackageFact: func(pkg *types.Package, f analysis.Fact) bool { return r.fill(f, pkg) },
		ExportPackageFact: func(f analysis.Fact) { r.facts[factKey{p.Types, reflect.TypeOf(f)}] = f },
		AllObjectFacts:    func() []analysis.ObjectFact { return nil },
		AllPackageFacts:   func() []analysis.PackageFact { return nil },
	}
}

// fill sets a fact to the one of its type about an object or a package, if there is one.
func (r *Runner) fill(to analysis.Fact, of any) bool {
	from, ok := r.facts[factKey{of, reflect.TypeOf(to)}]
	if ok {
		reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem())
	}
	return ok
}

func module(p *packages.Package) *analysis.Module {
	if p.Module == nil {
		return nil
	}
	return &analysis.Module{Path: p.Module.Path, Version: p.Module.Version, GoVersion: p.Module.GoVersion, Main: p.Module.Main}
}

// Facts iterates over the facts about functions and other objects.
func (r *Runner) Facts() iter.Seq2[types.Object, analysis.Fact] {
	return func(yield func(types.Object, analysis.Fact) bool) {
		for key, fact := range r.facts {
			if object, ok := key.of.(types.Object); ok && !yield(object, fact) {
				return
			}
		}
	}
}
