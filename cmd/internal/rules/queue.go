package rules

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/cfg"

	"github.com/kubetyped/informer/cmd/internal/kube"
)

var queueDone = rule("queuedone", `find keys of a work queue that are never done

A key that Get returned is not given out again before Done: added in the meantime, it
waits forever. Functions that pass the key on are not looked at.

Wrong:

	key, shutdown := queue.Get()
	if shutdown || !valid(key) {
		return
	}
	defer queue.Done(key)

Right:

	key, shutdown := queue.Get()
	if shutdown {
		return
	}
	defer queue.Done(key)`, func(c *checker) {
	eachFile(c, func(d *ast.FuncDecl) {
		if d.Body != nil {
			c.checkDone(d.Body)
		}
	})
	eachFile(c, func(f *ast.FuncLit) { c.checkDone(f.Body) })
})

// isQueue reports whether a method is one of a work queue: client-go's, or this
// project's.
func isQueue(f *types.Func, names ...string) bool {
	if f == nil || f.Signature().Recv() == nil || !slices.Contains(names, f.Name()) {
		return false
	}
	path := kube.PackagePath(f.Pkg())
	return path == "k8s.io/client-go/util/workqueue" || path == kube.Typed+"/queue" && kube.ReceiverName(f) == "WorkQueue"
}

func (c *checker) checkDone(body *ast.BlockStmt) {
	var got *ast.AssignStmt
	var call *ast.CallExpr
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.AssignStmt:
			if get, ok := n.Rhs[0].(*ast.CallExpr); ok && len(n.Lhs) == 2 && isQueue(c.called(get), "Get") {
				got, call = n, get
			}
		}
		return true
	})
	if got == nil {
		return
	}
	key, shutdown := c.object(got.Lhs[0]), c.object(got.Lhs[1])
	if key == nil || c.keyPassedOn(body, key) {
		return
	}
	if c.endsWithout(body, got, shutdown) {
		c.report(call, "on a path from here, Done is not called: the key is never given out again")
	}
}

// keyPassedOn reports whether a key is used other than by the queue, comparisons and
// functions that cannot know the queue. It was asserted from others, which may be asserted from it.
func (c *checker) keyPassedOn(body ast.Node, key types.Object, from ...types.Object) bool {
	found := false
	each(body, func(s *ast.AssignStmt) {
		if assert, ok := ast.Unparen(s.Rhs[0]).(*ast.TypeAssertExpr); ok && c.object(assert.X) == key {
			if asserted := c.object(s.Lhs[0]); asserted != nil && asserted != key && !slices.Contains(from, asserted) {
				found = found || c.keyPassedOn(body, asserted, append(slices.Clip(from), key)...)
			}
		}
	})
	each(body, func(n *ast.CallExpr) {
		f := c.called(n)
		if isQueue(f, "Done", "Forget", "Add", "AddAfter", "AddRateLimited", "NumRequeues") {
			return
		}
		if f != nil && f.Pkg() != nil {
			if path := kube.PackagePath(f.Pkg()); path == "fmt" || path == kube.Cache || strings.Contains(path, "klog") {
				return
			}
		}
		for _, arg := range n.Args {
			found = found || c.uses(arg, key)
		}
	})
	each(body, func(r *ast.ReturnStmt) { found = found || c.uses(r, key) })
	each(body, func(l *ast.CompositeLit) { found = found || c.uses(l, key) })
	each(body, func(s *ast.SendStmt) { found = found || c.uses(s.Value, key) })
	each(body, func(s *ast.AssignStmt) {
		for _, value := range s.Rhs {
			found = found || c.object(value) == key
		}
	})
	return found
}

// endsWithout reports whether a path from a statement to the end of the function does not
// call Done, other than that on which the queue is shut down.
func (c *checker) endsWithout(body *ast.BlockStmt, from ast.Node, shutdown types.Object) bool {
	graph := cfg.New(body, func(*ast.CallExpr) bool { return true })
	seen := map[*cfg.Block]bool{}
	var ends func(b *cfg.Block, nodes []ast.Node) bool
	ends = func(b *cfg.Block, nodes []ast.Node) bool {
		if slices.ContainsFunc(nodes, c.callsDone) {
			return false
		}
		if len(b.Succs) == 0 {
			return b.Return() != nil || b.Kind == cfg.KindBody || b.Live
		}
		for i, next := range b.Succs {
			if seen[next] || len(b.Succs) == 2 && len(b.Nodes) > 0 && c.isShutdown(b.Nodes[len(b.Nodes)-1], shutdown, i == 0) {
				continue
			}
			seen[next] = true
			if ends(next, next.Nodes) {
				return true
			}
		}
		return false
	}
	for _, b := range graph.Blocks {
		if i := slices.Index(b.Nodes, from); i >= 0 && b.Live {
			return ends(b, b.Nodes[i+1:])
		}
	}
	return false
}

func (c *checker) callsDone(n ast.Node) bool {
	found := false
	each(n, func(call *ast.CallExpr) { found = found || isQueue(c.called(call), "Done", "ShutDown") })
	return found
}

// isShutdown reports whether a branch of a condition is taken only if the queue is shut
// down.
func (c *checker) isShutdown(n ast.Node, shutdown types.Object, branch bool) bool {
	e, ok := n.(ast.Expr)
	if !ok {
		return false
	}
	if not, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && not.Op == token.NOT {
		return c.isShutdown(not.X, shutdown, !branch)
	}
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
		for _, sides := range [][2]ast.Expr{{b.X, b.Y}, {b.Y, b.X}} {
			if v := c.TypesInfo.Types[sides[1]].Value; v != nil && v.Kind() == constant.Bool {
				return c.isShutdown(sides[0], shutdown, branch == (constant.BoolVal(v) == (b.Op == token.EQL)))
			}
		}
	}
	return branch && shutdown != nil && c.object(e) == shutdown
}

var queueForget = rule("queueforget", `find packages that add keys with a rate limit and never forget them

AddRateLimited waits longer each time, until Forget is called for the key. Without it, a
key that failed a few times in its life waits for minutes.

Wrong:

	if err := sync(key); err != nil {
		queue.AddRateLimited(key)
	}

Right:

	if err := sync(key); err != nil {
		queue.AddRateLimited(key)
		return
	}
	queue.Forget(key)`, func(c *checker) {
	var added []*ast.CallExpr
	forgets, works := false, false // works: keys are taken from a queue here
	eachFile(c, func(call *ast.CallExpr) {
		f := c.called(call)
		forgets = forgets || isQueue(f, "Forget")
		works = works || isQueue(f, "Get", "Done")
		if isQueue(f, "AddRateLimited") && !c.isParameter(receiver(call)) {
			added = append(added, call)
		}
	})
	if len(added) > 0 && works && !forgets {
		c.report(added[0], "keys are added with a rate limit, and the package never calls Forget: they wait longer each time")
	}
})

// isParameter reports whether an expression is a parameter of a function, which another
// package may have the rest of.
func (c *checker) isParameter(e ast.Expr) bool {
	v, ok := c.object(e).(*types.Var)
	return ok && v.Kind() == types.ParamVar
}
