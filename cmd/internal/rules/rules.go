// Package rules finds mistakes with informers, listers and work queues that
// one function or package shows.
package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/kubetyped/informer/cmd/internal/kube"
	"github.com/kubetyped/informer/cmd/internal/report"
)

// Analyzers are all rules.
var Analyzers = []*analysis.Analyzer{
	tombstone, syncResult, lateInformer, blockingHandler, queueDone, queueForget, versionText, manyInformers,
}

// Fixing are the rules whose findings have fixes.
var Fixing = []*analysis.Analyzer{tombstone, syncResult, versionText}

// rule returns an analyzer that visits the files of packages that concern Kubernetes.
func rule(name, doc string, run func(*checker)) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name, Doc: doc, URL: report.URL,
		Run: func(pass *analysis.Pass) (any, error) {
			if kube.Concerns(pass.Pkg) && (pass.Module == nil || pass.Module.Version == "") {
				run(&checker{pass})
			}
			return nil, nil
		},
	}
}

// checker looks at one package.
type checker struct{ *analysis.Pass }

func (c *checker) report(at ast.Node, message string) {
	report.Report(c.Pass, analysis.Diagnostic{Pos: at.Pos(), End: at.End(), Message: message})
}

// each calls f for each node of a type in a tree.
func each[N ast.Node](root ast.Node, f func(N)) {
	for n := range ast.Preorder(root) {
		if n, ok := n.(N); ok {
			f(n)
		}
	}
}

// eachFile calls f for each node of a type in the package.
func eachFile[N ast.Node](c *checker, f func(N)) {
	for _, file := range c.Files {
		each(file, f)
	}
}

// called returns the function or method that is called, or nil.
func (c *checker) called(call *ast.CallExpr) *types.Func {
	f, _ := typeutil.Callee(c.TypesInfo, call).(*types.Func)
	return f
}

// object returns the variable that an expression names, or nil.
func (c *checker) object(e ast.Expr) types.Object {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		return c.TypesInfo.ObjectOf(id)
	}
	return nil
}

// receiver returns what a method is called on, or nil.
func receiver(call *ast.CallExpr) ast.Expr {
	if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		return s.X
	}
	return nil
}

// uses reports whether a tree names a variable.
func (c *checker) uses(root ast.Node, v types.Object) bool {
	found := false
	each(root, func(id *ast.Ident) { found = found || c.TypesInfo.Uses[id] == v })
	return found
}

// function is a function with a body.
type function struct {
	kind *ast.FuncType
	body *ast.BlockStmt
}

// params returns the parameters that have names.
func (c *checker) params(f function) (all []types.Object) {
	for _, field := range f.kind.Params.List {
		for _, name := range field.Names {
			all = append(all, c.TypesInfo.Defs[name])
		}
	}
	return all
}

// functionOf returns the function of the package that an expression names, or is.
func (c *checker) functionOf(e ast.Expr) (function, bool) {
	var named types.Object
	switch e := ast.Unparen(e).(type) {
	case *ast.FuncLit:
		return function{e.Type, e.Body}, true
	case *ast.Ident:
		named = c.TypesInfo.Uses[e]
	case *ast.SelectorExpr:
		named = c.TypesInfo.Uses[e.Sel]
	}
	if named == nil {
		return function{}, false
	}
	for _, file := range c.Files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && c.TypesInfo.Defs[f.Name] == named {
				return function{f.Type, f.Body}, true
			}
		}
	}
	return function{}, false
}

// handlers calls f for each function of the package that is a handler of an informer, and
// says whether it is one of deletions.
func (c *checker) handlers(f func(fn function, deletions bool)) {
	deletions := map[*ast.BlockStmt]bool{}
	var all []function
	one := func(event string, fn function) {
		if _, seen := deletions[fn.body]; !seen {
			all = append(all, fn)
		}
		deletions[fn.body] = deletions[fn.body] || event == "Delete"
	}
	eachFile(c, func(lit *ast.CompositeLit) {
		t := c.TypesInfo.TypeOf(lit)
		path, name := kube.TypeName(t)
		name = strings.TrimPrefix(name, "Typed")
		isOwn := path == kube.Typed+"/typed" && name == "HandlerFuncs"
		if !isOwn && (path != kube.Cache || name != "ResourceEventHandlerFuncs" && name != "ResourceEventHandlerDetailedFuncs") {
			return
		}
		for _, elem := range lit.Elts {
			pair, ok := elem.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			if fn, ok := c.functionOf(pair.Value); ok {
				field := pair.Key.(*ast.Ident).Name
				one(field[:len(field)-len("Func")], fn)
			}
		}
	})
	eachFile(c, func(d *ast.FuncDecl) {
		if event, ok := c.isHandlerMethod(d); ok {
			one(event, function{d.Type, d.Body})
		}
	})
	for _, fn := range all {
		f(fn, deletions[fn.body])
	}
}

// isHandlerMethod reports whether a method is one of a cache.ResourceEventHandler.
func (c *checker) isHandlerMethod(d *ast.FuncDecl) (event string, ok bool) {
	f, isFunc := c.TypesInfo.Defs[d.Name].(*types.Func)
	if d.Recv == nil || d.Body == nil || !isFunc {
		return "", false
	}
	want, known := map[string]int{"OnAdd": 2, "OnUpdate": 2, "OnDelete": 1}[f.Name()]
	params := f.Signature().Params()
	if !known || params.Len() != want {
		return "", false
	}
	iface, isInterface := params.At(0).Type().Underlying().(*types.Interface)
	return f.Name()[len("On"):], isInterface && iface.NumMethods() == 0
}

// calledNow calls f for each call that a function makes itself, and not one that it
// starts in a goroutine or leaves to a function literal.
func calledNow(body ast.Node, f func(*ast.CallExpr)) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt:
			return false
		case *ast.CallExpr:
			f(n)
		}
		return true
	})
}

func isComparison(op token.Token) bool {
	return op == token.LSS || op == token.GTR || op == token.LEQ || op == token.GEQ
}
