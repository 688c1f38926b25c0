package rules

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/kubetyped/informer/cmd/internal/kube"
	"github.com/kubetyped/informer/cmd/internal/report"
)

var tombstone = rule("tombstone", `find handlers of deletions that forget tombstones

An informer that missed a deletion calls the handler with a cache.DeletedFinalStateUnknown
instead of the object. An assertion without ok panics then; one with ok loses the deletion,
and so does cache.MetaNamespaceKeyFunc, which returns an error.

Wrong:

	DeleteFunc: func(obj any) { c.enqueue(obj.(*v1.Pod)) }

Right:

	DeleteFunc: func(obj any) {
		if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = unknown.Obj
		}
		if pod, ok := obj.(*v1.Pod); ok {
			c.enqueue(pod)
		}
	}`, func(c *checker) {
	k := keys{c, map[*ast.CallExpr]bool{}}
	c.handlers(func(fn function, deletions bool) {
		if params := c.params(fn); deletions && len(params) == 1 {
			c.checkDeletion(fn, params[0])
			k.check(fn, params[0], 2)
		}
	})
})

func (c *checker) checkDeletion(fn function, obj types.Object) {
	if c.unwraps(fn.body, obj) {
		return
	}
	var plain, checked []*ast.TypeAssertExpr
	withOK := map[ast.Expr]bool{}
	for n := range ast.Preorder(fn.body) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Lhs) == 2 && len(n.Rhs) == 1 {
				withOK[ast.Unparen(n.Rhs[0])] = true
			}
		case *ast.ValueSpec:
			if len(n.Names) == 2 && len(n.Values) == 1 {
				withOK[ast.Unparen(n.Values[0])] = true
			}
		case *ast.TypeAssertExpr:
			switch {
			case c.object(n.X) != obj:
			case n.Type == nil || withOK[n]:
				checked = append(checked, n)
			case !isInterface(c.TypesInfo.TypeOf(n.Type)):
				plain = append(plain, n)
			}
		}
	}
	for _, n := range plain {
		c.report(n, "the handler panics if the informer missed the deletion, and passes a cache.DeletedFinalStateUnknown: handle that first")
	}
	passed := slices.ContainsFunc(append(c.inClauses(fn.body, obj), obj), func(v types.Object) bool { return c.passedOn(fn.body, v) })
	if len(plain) == 0 && len(checked) > 0 && !passed {
		c.report(checked[0], "the handler loses deletions that the informer missed: their objects are in a cache.DeletedFinalStateUnknown")
	}
}

// unwraps reports whether a function looks for tombstones, or calls what may do so for it.
func (c *checker) unwraps(body *ast.BlockStmt, obj types.Object) bool {
	found := false
	each(body, func(n *ast.AssignStmt) {
		isSet := slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return c.object(e) == obj })
		found = found || isSet && c.passedOn(n, obj)
	})
	each(body, func(n *ast.CaseClause) { found = found || slices.ContainsFunc(n.List, c.isTombstone) })
	each(body, func(n *ast.TypeAssertExpr) { found = found || n.Type != nil && c.isTombstone(n.Type) })
	return found
}

// keys looks for keys that are made of objects of deletions.
type keys struct {
	*checker
	seen map[*ast.CallExpr]bool
}

// check follows the object of a deletion through a handler, and through the functions of the package
// that the handler passes it to, down to a depth.
func (k keys) check(fn function, obj types.Object, depth int) {
	if _, typed := types.Unalias(obj.Type()).(*types.TypeParam); typed || !isInterface(obj.Type()) {
		return // no tombstone has the type
	}
	if k.unwraps(fn.body, obj) {
		return
	}
	each(fn.body, func(call *ast.CallExpr) {
		i := slices.IndexFunc(call.Args, func(e ast.Expr) bool { return k.object(e) == obj })
		if i < 0 || k.seen[call] {
			return
		}
		if f := k.called(call); kube.IsFunc(f, kube.Cache, "MetaNamespaceKeyFunc", "ObjectToName") {
			k.seen[call] = true
			k.reportKey(call, f.Name())
			return
		}
		if called, ok := k.functionOf(call.Fun); ok && depth > 0 {
			if params := k.params(called); i < len(params) {
				k.check(called, params[i], depth-1)
			}
		}
	})
}

func (k keys) reportKey(call *ast.CallExpr, name string) {
	better := "DeletionHandling" + name
	d := analysis.Diagnostic{
		Pos: call.Pos(), End: call.End(),
		Message: "a handler loses deletions that the informer missed, as " + name + " makes no key of them: use " + better,
	}
	var id *ast.Ident
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	}
	if id != nil {
		d.SuggestedFixes = []analysis.SuggestedFix{{
			Message: "use " + better, TextEdits: []analysis.TextEdit{{Pos: id.Pos(), End: id.End(), NewText: []byte(better)}},
		}}
	}
	report.Report(k.Pass, d)
}

// inClauses returns the variables that are obj in clauses of switches over its type, of any type
// as it is.
func (c *checker) inClauses(body ast.Node, obj types.Object) (all []types.Object) {
	each(body, func(s *ast.TypeSwitchStmt) {
		assign, ok := s.Assign.(*ast.AssignStmt)
		if !ok {
			return
		}
		of, ok := assign.Rhs[0].(*ast.TypeAssertExpr)
		if !ok || c.object(of.X) != obj {
			return
		}
		for _, clause := range s.Body.List {
			if v := c.TypesInfo.Implicits[clause]; v != nil && types.Identical(v.Type(), obj.Type()) {
				all = append(all, v)
			}
		}
	})
	return all
}

func (c *checker) isTombstone(t ast.Expr) bool {
	return kube.IsType(c.TypesInfo.TypeOf(t), kube.Cache, "DeletedFinalStateUnknown")
}

func isInterface(t types.Type) bool { return t != nil && types.IsInterface(t) }

// passedOn reports whether a function passes a variable to another one that may handle
// what it is, and does not only log it.
func (c *checker) passedOn(body ast.Node, v types.Object) bool {
	found := false
	each(body, func(call *ast.CallExpr) {
		f := c.called(call)
		if f != nil && f.Pkg() != nil {
			path := kube.PackagePath(f.Pkg())
			if path == "fmt" || strings.Contains(path, "klog") || strings.Contains(path, "logr") || strings.HasPrefix(f.Name(), "HandleError") {
				return
			}
		}
		for _, arg := range call.Args {
			found = found || c.object(arg) == v
		}
	})
	each(body, func(s *ast.SendStmt) { found = found || c.uses(s.Value, v) })
	each(body, func(l *ast.CompositeLit) { found = found || c.uses(l, v) })
	return found
}
