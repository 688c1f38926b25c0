package migrate

import (
	"go/ast"
	"go/token"
	"slices"
)

// conditionOf removes results of casts from the condition of a branch that one of them is
// in: ok1 && ok2 && more, or !ok1 || !ok2 || more. Nothing is removed from another one.
func (b *body) conditionOf(id *ast.Ident) {
	var s *ast.IfStmt
	for n := b.parents[id]; s == nil; n = b.parents[n] {
		switch n := n.(type) {
		case *ast.BinaryExpr, *ast.UnaryExpr:
		case *ast.IfStmt:
			s = n
		default:
			return
		}
	}
	binary, isBinary := s.Cond.(*ast.BinaryExpr)
	if !isBinary || s.Init != nil || binary.Op != token.LAND && binary.Op != token.LOR {
		return
	}
	all := operands(s.Cond, binary.Op)
	kept := slices.DeleteFunc(slices.Clone(all), func(e ast.Expr) bool { return b.isResult(e, binary.Op) })
	switch {
	case len(kept) == len(all):
	case len(kept) == 0 && binary.Op == token.LAND:
		b.keep(s, s.Body, nil)
	case len(kept) == 0:
		b.keep(s, s.Else, nil)
	default:
		b.drop(all, kept)
	}
}

// operands returns the operands of a chain of one operator.
func operands(e ast.Expr, op token.Token) []ast.Expr {
	if binary, ok := e.(*ast.BinaryExpr); ok && binary.Op == op {
		return append(operands(binary.X, op), operands(binary.Y, op)...)
	}
	return []ast.Expr{e}
}

// isResult reports whether an operand is the result of a cast, which is always true: ok in
// a conjunction, !ok in a disjunction.
func (b *body) isResult(e ast.Expr, op token.Token) bool {
	if not, ok := e.(*ast.UnaryExpr); ok && op == token.LOR && not.Op == token.NOT {
		e = not.X
	} else if op == token.LOR {
		return false
	}
	id, ok := e.(*ast.Ident)
	if !ok {
		return false
	}
	_, found := b.oks[b.TypesInfo.Uses[id]]
	return found
}

// drop removes the operands that are not kept, each with the operator next to it.
func (b *body) drop(all, kept []ast.Expr) {
	for i, e := range all {
		switch {
		case slices.Contains(kept, e):
		case e.Pos() < kept[len(kept)-1].Pos():
			b.change(e.Pos(), all[i+1].Pos(), "")
		default:
			b.change(all[i-1].End(), e.End(), "")
		}
	}
}
