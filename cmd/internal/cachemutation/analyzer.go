// Package cachemutation finds writes to objects of a cache.
//
// It follows values forward through the SSA form of each function. A value is a set of
// places, each a root with a path (see place); memory that the function makes itself is
// followed part by part (see memory). What callers have to know of a function is its
// Summary, which is a fact.
package cachemutation

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/kubetyped/informer/cmd/internal/kube"
	"github.com/kubetyped/informer/cmd/internal/report"
)

// Analyzer finds writes to objects of a cache.
var Analyzer = &analysis.Analyzer{
	Name:      "cachemutation",
	Doc:       doc,
	URL:       report.URL,
	Run:       run,
	FactTypes: []analysis.Fact{new(Summary), new(analysed)},
}

const doc = `find writes to objects of a cache

Listers, stores, informers and handlers give out objects that all readers of a cache
share. A write to one changes what every other reader sees, races with them, and is lost
with the next event.

Wrong:

	pod, err := lister.Pods(namespace).Get(name)
	…
	pod.Labels["seen"] = "true"

Right:

	pod = pod.DeepCopy()
	pod.Labels["seen"] = "true"

A shallow copy is right for fields, and wrong for what they refer to: after q := *pod, the
map q.Labels is still that of the cache.`

// program is one package in SSA form.
type program struct {
	pass      *analysis.Pass
	ssa       *ssa.Program
	functions []*ssa.Function
	summaries map[*ssa.Function]*Summary
	methods   map[*types.Func]*Summary // of interfaces of the package
	done      map[any]bool             // in this round
	recursive bool                     // a summary was used before it was complete
	handed    map[*ssa.Function]map[int]string
	handedAny map[*ssa.Function]bool // with what may be another thing than an object
	private   map[any]bool
	stored    map[any][]ssa.Value // in fields and variables
	findings  map[token.Pos]finding
}

func run(pass *analysis.Pass) (any, error) {
	if !concerns(pass) {
		return nil, nil
	}
	p := build(pass)
	p.survey()
	p.summarize()
	p.export()
	pass.ExportPackageFact(new(analysed))
	p.report()
	return nil, nil
}

// concerns reports whether a package is of the main module, and can have to do with API
// objects. Others have a table of summaries, or none.
func concerns(pass *analysis.Pass) bool {
	if pass.Module != nil && pass.Module.Version != "" && !All {
		return false
	}
	if _, std := table()[pass.Pkg.Path()]; std && !All {
		return false
	}
	if !All && !kube.Concerns(pass.Pkg) {
		return false
	}
	return slices.ContainsFunc(pass.Files, func(f *ast.File) bool { return All || !ast.IsGenerated(f) })
}

// All is set to analyse dependencies and generated packages, too, for the table of
// summaries.
var All bool

// build builds the SSA form of a package as buildssa does. That is not required, as then
// all packages would be built.
func build(pass *analysis.Pass) *program {
	prog := ssa.NewProgram(pass.Fset, 0)
	prog.SetNoReturn(endsProgram)
	for _, imported := range pass.Pkg.Imports() {
		prog.CreatePackage(imported, nil, nil, true)
	}
	pkg := prog.CreatePackage(pass.Pkg, pass.Files, pass.TypesInfo, false)
	pkg.Build()
	p := &program{
		pass: pass, ssa: prog,
		summaries: map[*ssa.Function]*Summary{}, methods: map[*types.Func]*Summary{},
		handed: map[*ssa.Function]map[int]string{}, handedAny: map[*ssa.Function]bool{}, private: map[any]bool{}, stored: map[any][]ssa.Value{}, findings: map[token.Pos]finding{},
	}
	var add func(*ssa.Function)
	add = func(fn *ssa.Function) {
		if len(fn.Blocks) == 0 {
			return
		}
		p.functions = append(p.functions, fn)
		for _, inner := range fn.AnonFuncs {
			add(inner)
		}
	}
	if init := pkg.Func("init"); init != nil {
		add(init)
	}
	for _, file := range pass.Files {
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok {
				if fn := prog.FuncValue(pass.TypesInfo.Defs[d.Name].(*types.Func)); fn != nil {
					add(fn)
				}
			}
		}
	}
	return p
}

// endsProgram reports whether a function never returns.
func endsProgram(f *types.Func) bool {
	return f.Signature().Recv() == nil && slices.Contains([]string{"os", "log", "k8s.io/klog/v2"}, kube.PackagePath(f.Pkg())) &&
		slices.Contains([]string{"Exit", "Exitf", "Fatal", "Fatalf", "Fatalln"}, f.Name())
}

// survey finds the functions of the package that are called with objects of a cache, stores of
// the program's own, and the values of fields and variables.
func (p *program) survey() {
	for _, fn := range p.functions {
		p.handMethod(fn)
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				switch i := instr.(type) {
				case *ssa.Store:
					p.handField(i)
					p.noteStored(i)
				case *ssa.MapUpdate:
					if path, name := kube.TypeName(i.Map.Type()); path == kube.Cache && strings.TrimPrefix(name, "Typed") == "Indexers" {
						p.hand(i.Value, "the index function's object")
					}
				case ssa.CallInstruction:
					p.handCall(i.Common())
				}
			}
		}
	}
}

// summarize analyses all functions, those that are called first. Functions that call one
// another are analysed until nothing changes.
func (p *program) summarize() {
	for range 5 {
		before := maps.Clone(p.summaries)
		p.done, p.recursive = map[any]bool{}, false
		for _, fn := range p.functions {
			p.summaryOf(fn)
		}
		if !p.recursive || maps.EqualFunc(before, p.summaries, (*Summary).same) {
			return
		}
	}
}

// summaryOf returns the summary of a function, which may be nil.
func (p *program) summaryOf(fn *ssa.Function) *Summary {
	if origin := fn.Origin(); origin != nil {
		fn = origin
	}
	if len(fn.Blocks) == 0 {
		if obj, ok := fn.Object().(*types.Func); ok {
			return p.external(obj)
		}
		return nil
	}
	if done, ok := p.done[fn]; ok {
		if !done {
			p.recursive = true
		}
		return p.summaries[fn]
	}
	p.done[fn] = false
	p.summaries[fn] = p.analyse(fn)
	p.done[fn] = true
	return p.summaries[fn]
}

// external returns the summary of a function of another package.
func (p *program) external(obj *types.Func) *Summary {
	obj = obj.Origin()
	if obj.Pkg() == nil || obj.Pkg() == p.pass.Pkg {
		return nil
	}
	fact := new(Summary)
	if p.pass.ImportObjectFact(obj, fact) {
		return fact
	}
	return table()[kube.PackagePath(obj.Pkg())][obj.FullName()]
}

// export makes summaries facts.
func (p *program) export() {
	for _, fn := range p.functions {
		obj, ok := fn.Object().(*types.Func)
		if !ok || fn.Parent() != nil || obj.Pkg() != p.pass.Pkg || p.summaries[fn].empty() {
			continue
		}
		if obj.Exported() {
			p.pass.ExportObjectFact(obj, p.summaries[fn])
		}
	}
	scope := p.pass.Pkg.Scope()
	for _, name := range scope.Names() {
		tn, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || !tn.Exported() {
			continue
		}
		iface, ok := tn.Type().Underlying().(*types.Interface)
		if !ok {
			continue
		}
		for m := range iface.ExplicitMethods() {
			if sum := p.ofInterface(m); m.Exported() && m.Pkg() == p.pass.Pkg && !sum.empty() {
				p.pass.ExportObjectFact(m, sum)
			}
		}
	}
}
