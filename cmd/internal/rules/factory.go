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

// isForgotten reports whether variables that a statement declares are used for nothing
// but calls of their methods.
func (c *checker) isForgotten(s *ast.AssignStmt, body ast.Node) bool {
	for _, left := range s.Lhs {
		id, ok := left.(*ast.Ident)
		if !ok {
			return false
		}
		v := c.TypesInfo.Defs[id]
		if v == nil && id.Name != "_" {
			return false
		}
		methods, uses := 0, 0
		each(body, func(use *ast.Ident) {
			if v != nil && c.TypesInfo.Uses[use] == v {
				uses++
			}
		})
		each(body, func(call *ast.CallExpr) {
			if x := receiver(call); x != nil && v != nil && c.object(x) == v {
				methods++
			}
		})
		if uses != methods {
			return false
		}
	}
	return true
}
