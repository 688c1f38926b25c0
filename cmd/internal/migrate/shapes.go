package migrate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// node changes a statement of a known shape that casts the parameter.
func (b *body) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.BlockStmt:
		b.list(n.List, n == b.block)
	case *ast.CaseClause:
		b.list(n.Body, false)
	case *ast.CommClause:
		b.list(n.Body, false)
	case *ast.IfStmt, *ast.TypeSwitchStmt:
		b.choice(n)
	}
}

// choice changes a branch or a switch, once for each parameter.
func (b *body) choice(n ast.Node) {
	if b.seen[n] == b.at {
		return
	}
	b.seen[n] = b.at
	switch n := n.(type) {
	case *ast.IfStmt:
		b.branch(n)
	case *ast.TypeSwitchStmt:
		b.typeSwitch(n)
	}
}

// list changes assignments of casts, and the branches after them.
func (b *body) list(stmts []ast.Stmt, top bool) {
	for i, s := range stmts {
		if b.isRemoved(s) {
			continue
		}
		b.choice(s)
		assign, ok := s.(*ast.AssignStmt)
		if !ok || len(assign.Rhs) != 1 {
			continue
		}
		cast := b.cast(assign.Rhs[0])
		if cast == nil || cast.Type == nil {
			continue
		}
		if _, isIdent := assign.Lhs[0].(*ast.Ident); !isIdent && len(assign.Lhs) == 1 {
			continue // the cast is changed with the parameter's other uses, of which the place may have some
		}
		var next *ast.IfStmt
		if i+1 < len(stmts) {
			next, _ = stmts[i+1].(*ast.IfStmt)
		}
		b.assignment(assign, cast, next, top)
	}
}

// assignment changes x, ok := obj.(T), and if !ok {…} after it.
func (b *body) assignment(s *ast.AssignStmt, cast *ast.TypeAssertExpr, next *ast.IfStmt, top bool) {
	succeeds := b.succeeds(cast.Type)
	var ok types.Object
	if len(s.Lhs) == 2 {
		ok = b.ok(s.Lhs[1])
	}
	isNext, negated := next != nil && next.Init == nil && next.Else == nil && ok != nil, false
	if isNext {
		isNext, negated = b.isOK(next.Cond, ok)
	}
	switch {
	case succeeds && isNext && negated:
		b.set(s, cast, s.Pos(), s.End(), top)
		b.remove(next.Pos(), next.End())
	case succeeds:
		b.set(s, cast, s.Pos(), s.End(), top)
		if isNext {
			b.keep(next, next.Body, nil)
		}
	case isTombstone(b.TypesInfo.TypeOf(cast.Type)) && isNext && !negated:
		b.remove(s.Pos(), next.End())
	case isTombstone(b.TypesInfo.TypeOf(cast.Type)):
		b.fail(cast.Pos(), "code for tombstones has no known shape here")
	default:
		b.fail(cast.Pos(), "objects are cast to another type than the informer's")
	}
}

// ok returns the variable that has whether a cast succeeds, or nil.
func (b *body) ok(e ast.Expr) types.Object {
	id, ok := e.(*ast.Ident)
	if !ok || id.Name == "_" {
		return nil
	}
	object := b.TypesInfo.ObjectOf(id)
	b.oks[object] = id.Pos()
	return object
}

// isOK reports whether a condition is ok or, negated, !ok.
func (b *body) isOK(cond ast.Expr, ok types.Object) (is, negated bool) {
	if not, isNot := ast.Unparen(cond).(*ast.UnaryExpr); isNot && not.Op == token.NOT {
		cond, negated = not.X, true
	}
	id, isIdent := ast.Unparen(cond).(*ast.Ident)
	return isIdent && b.TypesInfo.Uses[id] == ok, negated
}

// branch changes if x, ok := obj.(T); ok {…}.
func (b *body) branch(s *ast.IfStmt) {
	assign, isAssign := s.Init.(*ast.AssignStmt)
	if !isAssign || len(assign.Rhs) != 1 || len(assign.Lhs) != 2 || b.isRemoved(assign) {
		return
	}
	cast := b.cast(assign.Rhs[0])
	if cast == nil || cast.Type == nil {
		return
	}
	succeeds := b.succeeds(cast.Type)
	if !succeeds && !isTombstone(b.TypesInfo.TypeOf(cast.Type)) {
		b.fail(cast.Pos(), "objects are cast to another type than the informer's")
		return
	}
	ok := b.ok(assign.Lhs[1])
	is, negated := b.isOK(s.Cond, ok)
	switch {
	case is && succeeds != negated:
		b.keepSet(s, s.Body, assign, cast, succeeds)
	case is:
		b.keepSet(s, s.Else, assign, cast, succeeds)
	default:
		b.condition(s, assign, cast, ok, succeeds)
	}
}

// condition changes if x, ok := obj.(T); ok && more {…}.
func (b *body) condition(s *ast.IfStmt, assign *ast.AssignStmt, cast *ast.TypeAssertExpr, ok types.Object, succeeds bool) {
	both, isBinary := s.Cond.(*ast.BinaryExpr)
	if !isBinary || !succeeds {
		b.fail(s.Pos(), "this condition of a cast has no known shape")
		return
	}
	is, negated := b.isOK(both.X, ok)
	if !is || negated != (both.Op == token.LOR) || both.Op != token.LOR && both.Op != token.LAND {
		b.fail(s.Pos(), "this condition of a cast has no known shape")
		return
	}
	id, isIdent := assign.Lhs[0].(*ast.Ident)
	if isIdent && (id.Name == "_" || assign.Tok == token.DEFINE && len(b.uses[b.TypesInfo.Defs[id]]) == 0) {
		b.change(s.Init.Pos(), both.Y.Pos(), "")
		return
	}
	b.set(assign, cast, assign.Pos(), assign.End(), false)
	b.change(both.X.Pos(), both.Y.Pos(), "")
}

// keepSet replaces a branch by its statements, which begin with a variable that is set.
func (b *body) keepSet(s *ast.IfStmt, kept ast.Stmt, assign *ast.AssignStmt, cast *ast.TypeAssertExpr, succeeds bool) {
	if !succeeds {
		b.keep(s, kept, nil)
		return
	}
	id, isIdent := assign.Lhs[0].(*ast.Ident)
	if block, isBlock := kept.(*ast.BlockStmt); isIdent && isBlock && b.TypesInfo.Scopes[block].Lookup(id.Name) != nil {
		b.fail(id.Pos(), "the variable "+id.Name+" is declared again below")
		return
	}
	if next, isIf := kept.(*ast.IfStmt); isIf && assign.Tok == token.DEFINE {
		b.keepScope(s, next, assign, cast)
		return
	}
	b.keep(s, kept, func(start, end token.Pos, top bool) { b.set(assign, cast, start, end, top) })
}

// keepScope keeps the second branch of if x, ok := obj.(T); !ok {…} else if more {…}. The
// variable stays in it, as its name may mean something else below.
func (b *body) keepScope(s, next *ast.IfStmt, assign *ast.AssignStmt, cast *ast.TypeAssertExpr) {
	if next.Init != nil {
		b.fail(next.Pos(), "this branch of a cast has no known shape")
		return
	}
	b.set(assign, cast, assign.Pos(), assign.End(), false)
	b.change(s.Cond.Pos(), next.Cond.Pos(), "")
}

// keep replaces a branch by one of its blocks, or by nothing. It calls set, if there is
// one, for the place before the block's statements.
func (b *body) keep(s *ast.IfStmt, kept ast.Stmt, set func(start, end token.Pos, top bool)) {
	if parent, ok := b.parents[s].(*ast.IfStmt); ok && parent.Else == s && !b.isRemoved(s) {
		if _, isBlock := kept.(*ast.BlockStmt); !isBlock && !b.startsInRemoved(s.Pos()) {
			b.fail(s.Pos(), "this branch of a cast has no known shape")
			return
		}
	}
	switch kept := kept.(type) {
	case nil:
		if assign, ok := s.Init.(*ast.AssignStmt); ok && set != nil && assign.Tok == token.ASSIGN {
			set(s.Pos(), s.End(), false)
			return
		}
		b.remove(s.Pos(), s.End())
	case *ast.IfStmt:
		if set != nil {
			set(s.Pos(), kept.Pos(), false)
			return
		}
		b.change(s.Pos(), kept.Pos(), "")
	case *ast.BlockStmt:
		b.unwrap(s, kept.Lbrace+1, kept.Rbrace, kept.List, set)
	}
}

func (b *body) startsInRemoved(pos token.Pos) bool {
	return slices.ContainsFunc(b.removed, func(r ast.Node) bool { return r.Pos() <= pos && pos < r.End() || r.End() == pos })
}

// unwrap replaces a statement by the statements in a part of it, without a block if they
// are the last ones of the function or end it.
func (b *body) unwrap(s ast.Stmt, start, end token.Pos, stmts []ast.Stmt, set func(start, end token.Pos, top bool)) {
	last := len(b.block.List) - 1
	i := slices.Index(b.block.List, s)
	ends := len(stmts) > 0 && isReturn(stmts[len(stmts)-1])
	bare := i >= 0 && (i == last || ends) && !b.clashes(stmts, i)
	if _, inBlock := b.parents[s].(*ast.BlockStmt); set == nil && inBlock && !bare && !ends {
		bare, i = !b.declares(stmts), last
	}
	open, shut := "{", "}"
	if bare {
		open, shut = "", ""
	}
	switch {
	case set == nil && bare:
		from, to := b.lines(s.Pos(), start)
		b.change(from, to, "")
	case set == nil:
		b.change(s.Pos(), start, open)
	default:
		if !bare {
			b.edits = append(b.edits, replace(s.Pos(), s.Pos(), open))
		}
		set(s.Pos(), start, bare)
	}
	after := s.End()
	if bare && i < last {
		after = b.block.List[last].End()
	}
	if bare {
		end, after = b.lines(end, after)
	}
	b.change(end, after, shut)
}

func isReturn(s ast.Stmt) bool {
	_, ok := s.(*ast.ReturnStmt)
	return ok
}

// declares reports whether statements declare something.
func (b *body) declares(stmts []ast.Stmt) bool {
	for _, s := range stmts {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				return true
			}
		case *ast.DeclStmt, *ast.LabeledStmt:
			return true
		}
	}
	return false
}

// clashes reports whether statements declare what the function's statements before them
// declare or name.
func (b *body) clashes(stmts []ast.Stmt, i int) bool {
	names := map[string]bool{}
	for _, s := range stmts {
		for n := range ast.Preorder(s) {
			if id, ok := n.(*ast.Ident); ok && b.TypesInfo.Defs[id] != nil {
				names[id.Name] = true
			}
		}
	}
	for _, s := range b.block.List[:i] {
		for n := range ast.Preorder(s) {
			if id, ok := n.(*ast.Ident); ok && names[id.Name] && !b.isRemoved(id) {
				return true
			}
		}
	}
	return slices.ContainsFunc(b.params, func(p *param) bool { return names[p.object.Name()] })
}

// typeSwitch replaces a switch over the parameter's type by the clause of its type.
func (b *body) typeSwitch(s *ast.TypeSwitchStmt) {
	var cast *ast.TypeAssertExpr
	switch a := s.Assign.(type) {
	case *ast.ExprStmt:
		cast = b.cast(a.X)
	case *ast.AssignStmt:
		cast = b.cast(a.Rhs[0])
	}
	if cast == nil {
		return
	}
	var chosen *ast.CaseClause
	for _, c := range s.Body.List {
		c := c.(*ast.CaseClause)
		if c.List == nil && chosen == nil {
			chosen = c
		}
		if slices.ContainsFunc(c.List, func(t ast.Expr) bool { return !b.TypesInfo.Types[t].IsNil() && b.succeeds(t) }) {
			chosen = c
			break
		}
	}
	if chosen == nil || s.Init != nil || breaks(chosen.Body) {
		b.fail(s.Pos(), "this switch over the type has no known shape")
		return
	}
	if v := b.TypesInfo.Implicits[chosen]; v != nil {
		for _, id := range b.uses[v] {
			if b.isSet(id) || len(chosen.List) != 1 || !types.Identical(v.Type(), b.at.typ) {
				b.fail(id.Pos(), "this switch over the type has no known shape")
				return
			}
			b.aliases = append(b.aliases, alias{b.at, id})
		}
	}
	end := s.Body.Rbrace
	if i := slices.Index(s.Body.List, ast.Stmt(chosen)); i+1 < len(s.Body.List) {
		end = s.Body.List[i+1].Pos()
	}
	b.unwrap(s, chosen.Colon+1, end, chosen.Body, nil)
}

// breaks reports whether statements leave the switch that they are in.
func breaks(stmts []ast.Stmt) bool {
	found := false
	for _, s := range stmts {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.FuncLit:
				return false
			case *ast.BranchStmt:
				found = found || n.Tok == token.BREAK && n.Label == nil
			}
			return true
		})
	}
	return found
}
