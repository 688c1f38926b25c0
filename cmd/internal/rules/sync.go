package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/astutil"

	"github.com/kubetyped/informer/cmd/internal/kube"
	"github.com/kubetyped/informer/cmd/internal/report"
)

var syncResult = rule("syncresult", `find calls of cache.WaitForCacheSync whose result is not used

WaitForCacheSync returns false if it was stopped before the caches had synced. A program
that goes on reads from caches that are empty or not complete.

Wrong:

	cache.WaitForCacheSync(stop, informer.HasSynced)

Right:

	if !cache.WaitForCacheSync(stop, informer.HasSynced) {
		return errors.New("stopped before the cache had synced")
	}`, func(c *checker) {
	eachFile(c, func(s *ast.ExprStmt) {
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return
		}
		f := c.called(call)
		if f == nil || kube.PackagePath(f.Pkg()) != kube.Cache || f.Signature().Recv() != nil {
			return
		}
		if strings.HasPrefix(f.Name(), "WaitForCacheSync") || strings.HasPrefix(f.Name(), "WaitForNamedCacheSync") {
			report.Report(c.Pass, analysis.Diagnostic{
				Pos: s.Pos(), End: s.End(), SuggestedFixes: c.returnUnless(s),
				Message: "the result of " + f.Name() + " is not used: it is false if the caches have not synced",
			})
		}
	})
})

// returnUnless returns a fix that returns if a call says that caches have not synced. There
// is none if the function has results, which the author has to choose, or is main, which ends
// as if all were well, or if the call is in the header of a statement.
func (c *checker) returnUnless(s *ast.ExprStmt) []analysis.SuggestedFix {
	var kind *ast.FuncType
	path, _ := astutil.PathEnclosingInterval(report.FileOf(c.Pass, s.Pos()), s.Pos(), s.Pos())
	switch path[slices.Index(path, ast.Node(s))+1].(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
	default:
		return nil
	}
	for _, n := range path {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "main" {
				return nil
			}
			kind = n.Type
		case *ast.FuncLit:
			kind = n.Type
		}
		if kind != nil {
			break
		}
	}
	if kind == nil || kind.Results != nil {
		return nil
	}
	return []analysis.SuggestedFix{{
		Message: "return if the caches have not synced",
		TextEdits: []analysis.TextEdit{
			{Pos: s.Pos(), End: s.Pos(), NewText: []byte("if !")},
			{Pos: s.End(), End: s.End(), NewText: []byte(" {\nreturn\n}")},
		},
	}}
}

var lateInformer = rule("lateinformer", `find informers that are made after their factory was started

Start starts the informers that were asked for before. One that is asked for later does
not run until Start is called again: its store stays empty.

Wrong:

	factory.Start(stop)
	pods := factory.Core().V1().Pods().Lister()

Right:

	pods := factory.Core().V1().Pods().Lister()
	factory.Start(stop)`, func(c *checker) {
	eachFile(c, func(d *ast.FuncDecl) {
		each(d, func(b *ast.BlockStmt) {
			for i, s := range b.List {
				if factory := c.started(s); factory != nil && !c.passedBefore(d, factory, s.Pos()) {
					c.checkAfter(factory, b.List[i+1:], c.madeBefore(d, s.Pos()))
				}
			}
		})
	})
})

// passedBefore reports whether a factory is used before a position as more than a receiver: other
// functions may make informers of it.
func (c *checker) passedBefore(d *ast.FuncDecl, factory types.Object, pos token.Pos) bool {
	passed := 0
	each(d, func(id *ast.Ident) {
		if c.TypesInfo.Uses[id] == factory && id.Pos() < pos {
			passed++
		}
	})
	each(d, func(s *ast.SelectorExpr) {
		if c.object(s.X) == factory && s.Pos() < pos {
			passed--
		}
	})
	return passed > 0
}

// madeBefore returns the kinds of which a function makes informers or listers before a position.
// A kind that it passes to another function counts, since that may make them.
func (c *checker) madeBefore(d *ast.FuncDecl, pos token.Pos) map[string]bool {
	made := map[string]bool{}
	each(d, func(call *ast.CallExpr) {
		if call.Pos() >= pos {
			return
		}
		made[c.kindMade(call)] = true
		for _, arg := range call.Args {
			made[c.kindOf(arg)] = true
		}
	})
	return made
}

// kindMade returns what names the informer that a call makes or shares with others of its
// factory: its type, or the whole expression of those that all kinds have. It returns
// nothing for other calls.
func (c *checker) kindMade(call *ast.CallExpr) string {
	f := c.called(call)
	x := receiver(call)
	if f == nil || x == nil || !slices.Contains([]string{"Informer", "TypedInformer", "Lister"}, f.Name()) {
		return ""
	}
	return c.kindOf(x)
}

// kindOf returns what names the informer of an expression that has the methods Informer and
// Lister.
func (c *checker) kindOf(x ast.Expr) string {
	path, name := kube.TypeName(c.TypesInfo.TypeOf(x))
	if name == "GenericInformer" {
		return types.ExprString(x)
	}
	return path + "." + strings.TrimPrefix(name, "Typed") // client-go has PodInformer and TypedPodInformer
}

// started returns the factory that a statement starts, or nil.
func (c *checker) started(s ast.Stmt) types.Object {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	if call, ok := e.X.(*ast.CallExpr); ok && c.isStart(call) {
		return c.object(receiver(call))
	}
	return nil
}

// isStart reports whether a call is of Start or StartWithContext of a factory.
func (c *checker) isStart(call *ast.CallExpr) bool {
	f := c.called(call)
	return f != nil && strings.HasPrefix(f.Name(), "Start") && strings.HasSuffix(kube.ReceiverName(f), "SharedInformerFactory")
}

func (c *checker) checkAfter(factory types.Object, after []ast.Stmt, before map[string]bool) {
	rest := &ast.BlockStmt{List: after}
	again := false
	each(rest, func(call *ast.CallExpr) {
		if x := receiver(call); x != nil && c.isStart(call) {
			again = again || c.object(x) == factory
		}
	})
	if again {
		return
	}
	calledNow(rest, func(call *ast.CallExpr) {
		kind := c.kindMade(call)
		if kind == "" || before[kind] || c.origin(call) != factory || c.runs(rest, call) {
			return
		}
		c.report(call, "this "+strings.ToLower(strings.TrimPrefix(c.called(call).Name(), "Typed"))+" is made after the factory was started, and does not run until Start is called again")
	})
}

// runs reports whether a tree runs the informer that a call returns without its factory.
func (c *checker) runs(root ast.Node, informer *ast.CallExpr) bool {
	var v types.Object
	each(root, func(s *ast.AssignStmt) {
		if ast.Unparen(s.Rhs[0]) == ast.Expr(informer) {
			v = c.object(s.Lhs[0])
		}
	})
	found := false
	each(root, func(s *ast.SelectorExpr) {
		is := ast.Unparen(s.X) == ast.Expr(informer) || v != nil && c.object(s.X) == v
		found = found || is && strings.HasPrefix(s.Sel.Name, "Run")
	})
	return found
}

// origin returns the variable at the beginning of a chain of calls.
func (c *checker) origin(e ast.Expr) types.Object {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.CallExpr:
			e = x.Fun
		case *ast.SelectorExpr:
			e = x.X
		default:
			return c.object(e)
		}
	}
}
