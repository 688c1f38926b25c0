package cachemutation

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/astutil"

	"github.com/kubetyped/informer/cmd/internal/report"
)

// fixed is a variable that a fix makes a copy, and the rest of the block in which it is
// one.
type fixed struct {
	variable types.Object
	block    ast.Node
	from     token.Pos
}

// fix returns the insertion of DeepCopy before the statement that writes. It is there
// only if it is surely right: a variable is set once, from the read of the cache, and
// nothing else in the function refers to the object.
func (p *program) fix(f finding, before []fixed) (fixes []analysis.SuggestedFix, done fixed) {
	file := report.FileOf(p.pass, f.pos)
	if file == nil {
		return nil, fixed{}
	}
	path, _ := astutil.PathEnclosingInterval(file, f.pos, f.pos)
	statement, block, body := p.enclosing(path)
	if statement == nil || body == nil {
		return nil, fixed{}
	}
	v := p.variableOf(statement, body, f.root.pos)
	copied := func(b fixed) bool { return b.variable == v && b.from <= f.pos && f.pos < b.block.End() }
	if v == nil || !p.isOnlyReference(body, v) || slices.ContainsFunc(before, copied) {
		return nil, fixed{}
	}
	text := v.Name() + " = " + v.Name() + ".DeepCopy()\n"
	return []analysis.SuggestedFix{{
		Message:   "copy " + v.Name() + " first",
		TextEdits: []analysis.TextEdit{{Pos: statement.Pos(), End: statement.Pos(), NewText: []byte(text)}},
	}}, fixed{v, block, statement.Pos()}
}

// enclosing returns the innermost statement of a block, the block, and the body of the
// function.
func (p *program) enclosing(path []ast.Node) (statement ast.Stmt, block ast.Node, body *ast.BlockStmt) {
	for i, n := range path {
		if s, ok := n.(ast.Stmt); ok && statement == nil && i+1 < len(path) {
			switch parent := path[i+1].(type) {
			case *ast.CommClause:
				if parent.Comm == s {
					return nil, nil, nil // nothing can be before it
				}
				statement, block = s, parent
			case *ast.BlockStmt, *ast.CaseClause:
				statement, block = s, parent
			}
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			return nil, nil, nil
		case *ast.FuncDecl:
			body = n.Body
		}
	}
	switch statement.(type) {
	case *ast.DeferStmt, *ast.GoStmt, *ast.LabeledStmt, *ast.CaseClause, *ast.CommClause:
		return nil, nil, nil
	}
	return statement, block, body
}

// variableOf returns the one variable of a statement that has the object of a read, and
// whose type has the method DeepCopy.
func (p *program) variableOf(statement ast.Stmt, body *ast.BlockStmt, read token.Pos) types.Object {
	var found types.Object
	for n := range ast.Preorder(body) {
		s, ok := n.(*ast.AssignStmt)
		if ok && s.Tok == token.DEFINE && len(s.Rhs) == 1 && s.Rhs[0].Pos() <= read && read < s.Rhs[0].End() && s != statement {
			if id, ok := s.Lhs[0].(*ast.Ident); ok {
				found = p.pass.TypesInfo.Defs[id]
			}
		}
	}
	if found == nil || !isDeepCopied(found.Type()) {
		return nil
	}
	for n := range ast.Preorder(statement) {
		if id, ok := n.(*ast.Ident); ok && p.pass.TypesInfo.Uses[id] == found {
			return found
		}
	}
	return nil
}

// isDeepCopied reports whether a type has a method DeepCopy that returns the same type.
func isDeepCopied(t types.Type) bool {
	if _, ok := t.Underlying().(*types.Pointer); !ok {
		return false
	}
	method, _, _ := types.LookupFieldOrMethod(t, false, nil, "DeepCopy")
	f, ok := method.(*types.Func)
	return ok && f.Signature().Params().Len() == 0 && f.Signature().Results().Len() == 1 &&
		types.Identical(f.Signature().Results().At(0).Type(), t)
}

// isOnlyReference reports whether a variable is never set again, captured or copied to
// another one, and neither is memory of its object: it is only compared, returned, passed to
// functions, and its fields and methods are used.
func (p *program) isOnlyReference(body *ast.BlockStmt, v types.Object) bool {
	only := true
	ast.PreorderStack(body, nil, func(n ast.Node, stack []ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && p.pass.TypesInfo.Uses[id] == v {
			only = only && p.isPlainUse(stack, id)
		}
		return only
	})
	return only
}

func (p *program) isPlainUse(stack []ast.Node, id *ast.Ident) bool {
	if slices.ContainsFunc(stack, func(n ast.Node) bool { _, ok := n.(*ast.FuncLit); return ok }) {
		return false
	}
	switch parent := stack[len(stack)-1].(type) {
	case *ast.SelectorExpr:
		return p.isPlainPart(stack, parent)
	case *ast.BinaryExpr, *ast.ReturnStmt:
		return true
	case *ast.CallExpr:
		return parent.Fun != ast.Expr(id) && !isAppend(parent)
	}
	return false
}

func isAppend(call *ast.CallExpr) bool {
	fun, ok := call.Fun.(*ast.Ident)
	return ok && fun.Name == "append"
}

// isPlainPart reports whether a part of an object, which the last expression of a stack selects,
// is used without another name for the object's memory.
func (p *program) isPlainPart(stack []ast.Node, part ast.Expr) bool {
	at := len(stack) - 2
	for ; at >= 0; at-- {
		next, ok := partOf(stack[at], part)
		if !ok {
			break
		}
		if isDeepCopy(part) {
			return true
		}
		part = next
	}
	if at < 0 {
		return true
	}
	t := p.pass.TypesInfo.TypeOf(part)
	leads := t != nil && holdsReferences(t) && !isError(t)
	switch parent := stack[at].(type) {
	case *ast.UnaryExpr:
		return parent.Op != token.AND
	case *ast.AssignStmt:
		return slices.Contains(parent.Lhs, part) || !leads
	case *ast.ValueSpec, *ast.CompositeLit, *ast.KeyValueExpr, *ast.SendStmt:
		return !leads
	case *ast.RangeStmt:
		return parent.X != part || parent.Value == nil || !holdsReferences(p.pass.TypesInfo.TypeOf(parent.Value))
	case *ast.CallExpr:
		return !leads || !isAppend(parent)
	}
	return true
}

// partOf returns the expression of a part of what another one is, or of what its method returns.
func partOf(n ast.Node, of ast.Expr) (ast.Expr, bool) {
	var operand ast.Expr
	switch n := n.(type) {
	case *ast.SelectorExpr:
		operand = n.X
	case *ast.IndexExpr:
		operand = n.X
	case *ast.SliceExpr:
		operand = n.X
	case *ast.ParenExpr:
		operand = n.X
	case *ast.StarExpr:
		operand = n.X
	case *ast.TypeAssertExpr:
		operand = n.X
	case *ast.CallExpr:
		operand = n.Fun
	}
	part, ok := n.(ast.Expr)
	return part, ok && operand == of
}

// isDeepCopy reports whether an expression names a method that copies.
func isDeepCopy(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && strings.HasPrefix(s.Sel.Name, "DeepCopy")
}
