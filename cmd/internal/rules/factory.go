package rules

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/kubetyped/informer/cmd/internal/kube"
)

var manyInformers = rule("manyinformers", `find factories and informers that are made again and again

Each informer lists and watches on its own and keeps all objects. One that is made for
each reconcile, or for each element of a loop that forgets it, costs the API server a list
and the program its memory each time.

Wrong:

	func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		factory := informers.NewSharedInformerFactory(r.client, 0)

Right: make it once, and keep its lister in the Reconciler.`, func(c *checker) {
	eachFile(c, func(d *ast.FuncDecl) {
		if d.Body == nil {
			return
		}
		if c.isReconcile(d) {
			calledNow(d.Body, func(call *ast.CallExpr) {
				if name, ok := c.makesInformer(call); ok {
					c.report(call, name+" makes informers for each reconcile: make them once")
				}
			})
			return
		}
		c.checkLoops(d)
	})
})

// isReconcile reports whether a method is that of a controller-runtime Reconciler.
func (c *checker) isReconcile(d *ast.FuncDecl) bool {
	f, ok := c.TypesInfo.Defs[d.Name].(*types.Func)
	if !ok || d.Recv == nil || f.Name() != "Reconcile" {
		return false
	}
	for p := range f.Signature().Params().Variables() {
		if kube.IsType(p.Type(), "sigs.k8s.io/controller-runtime/pkg/reconcile", "Request") {
			return true
		}
	}
	return false
}

// makesInformer reports whether a call makes a factory of informers or an informer.
func (c *checker) makesInformer(call *ast.CallExpr) (name string, ok bool) {
	f := c.called(call)
	if f == nil || f.Pkg() == nil || f.Signature().Recv() != nil || !strings.HasPrefix(f.Name(), "New") {
		return "", false
	}
	path := kube.PackagePath(f.Pkg())
	isFactory := strings.Contains(f.Name(), "SharedInformerFactory")
	isInformer := (path == kube.Cache || path == kube.Typed+"/typed") && strings.Contains(f.Name(), "Informer")
	return f.Pkg().Name() + "." + f.Name(), isFactory || isInformer
}

// checkLoops finds informers that are made in a loop and put into a variable of the loop
// which is not stored, passed on or returned.
func (c *checker) checkLoops(d *ast.FuncDecl) {
	seen := map[*ast.CallExpr]bool{} // in an inner loop, before the outer one
	loop := func(body *ast.BlockStmt) {
		ast.Inspect(body, func(n ast.Node) bool {
			s, ok := n.(*ast.AssignStmt)
			if _, isFunc := n.(*ast.FuncLit); isFunc {
				return false
			}
			if !ok || len(s.Rhs) != 1 {
				return true
			}
			call, ok := s.Rhs[0].(*ast.CallExpr)
			if !ok {
				return true
			}
			if name, ok := c.makesInformer(call); ok && !seen[call] && c.isForgotten(s, body) {
				seen[call] = true
				c.report(call, name+" makes informers for each turn of the loop, which forgets them: they are never shared")
			}
			return true
		})
	}
	each(d.Body, func(s *ast.ForStmt) { loop(s.Body) })
	each(d.Body, func(s *ast.RangeStmt) { loop(s.Body) })
}

// isForgotten reports whether nothing that a statement makes outlives a turn of the loop:
// informers and listers that come from it are used for nothing but calls of their methods.
func (c *checker) isForgotten(s *ast.AssignStmt, body ast.Node) bool {
	from := map[types.Object]bool{}
	if !c.declares(s, from) {
		return false
	}
	for known := -1; known != len(from); {
		known = len(from)
		each(body, func(next *ast.AssignStmt) {
			if len(next.Rhs) == 1 && from[c.origin(next.Rhs[0])] {
				c.declares(next, from)
			}
		})
	}
	kept := false
	keeps := func(e ast.Expr) { kept = kept || from[c.origin(e)] && !c.isSynced(e) }
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			for _, arg := range n.Args {
				keeps(arg)
			}
			kept = kept || c.addsHandler(n) && from[c.origin(n)]
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					e = pair.Value
				}
				keeps(e)
			}
		case *ast.ReturnStmt:
			for _, e := range n.Results {
				keeps(e)
			}
		case *ast.SendStmt:
			keeps(n.Value)
		case *ast.AssignStmt:
			if len(n.Rhs) == 1 && from[c.origin(n.Rhs[0])] {
				kept = kept || !c.declares(n, map[types.Object]bool{})
			}
		}
		return !kept
	})
	return !kept
}

// declares adds the variables that a statement declares, and reports whether it sets no
// others.
func (c *checker) declares(s *ast.AssignStmt, to map[types.Object]bool) bool {
	for _, left := range s.Lhs {
		id, ok := left.(*ast.Ident)
		if !ok {
			return false
		}
		v := c.TypesInfo.Defs[id]
		if v == nil && id.Name != "_" {
			if v = c.TypesInfo.Uses[id]; v == nil || v.Type().String() != "error" {
				return false
			}
			continue
		}
		if v != nil && v.Type().String() != "error" {
			to[v] = true
		}
	}
	return true
}

// addsHandler reports whether a call gives an informer a handler, which is of use by itself.
func (c *checker) addsHandler(call *ast.CallExpr) bool {
	f := c.called(call)
	return f != nil && strings.HasPrefix(f.Name(), "AddEventHandler")
}

// isSynced reports whether an expression is the method HasSynced, or a call of it.
func (c *checker) isSynced(e ast.Expr) bool {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		e = call.Fun
	}
	s, ok := ast.Unparen(e).(*ast.SelectorExpr)
	return ok && s.Sel.Name == "HasSynced"
}
