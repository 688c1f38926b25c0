package migrate

import (
	"bytes"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// param is a parameter of any type that gets the type of objects.
type param struct {
	object types.Object
	typ    types.Type
	text   string // what stands for it in the body
	rename bool   // whether it may get the name of a variable that is set to it
	used   bool
}

// body is the body of a function whose parameters get types: casts of them cannot fail
// any more, and the code for failures is removed.
type body struct {
	*plan
	block   *ast.BlockStmt
	params  []*param
	at      *param // the parameter that is looked at
	edits   []analysis.TextEdit
	removed []ast.Node // ranges of edits, and nodes in them
	oks     map[types.Object]token.Pos
	done    map[ast.Node]bool
	seen    map[ast.Node]*param // branches and switches
	slots   []slot
	aliases []alias
	failed  *stays
}

// slot is a place where a variable is set to a parameter.
type slot struct {
	param      *param
	variable   types.Object
	start, end token.Pos
	convert    ast.Expr // the interface that the parameter is converted to, or nil
	stmt       *ast.AssignStmt
	blank      bool // the variable is _
	top        bool // among the statements of the function itself
	renamed    bool // the parameter has the variable's name
}

// alias is a use of a variable that is the parameter under another name.
type alias struct {
	param *param
	use   *ast.Ident
}

// checkAlias fails if the name of the parameter means something else where the alias is.
func (b *body) checkAlias(a alias) {
	name := a.param.object.Name()
	if a.param.text != name {
		return // no other variable of the function has it
	}
	_, found := b.Pkg.Scope().Innermost(a.use.Pos()).LookupParent(name, a.use.Pos())
	if found != a.param.object && found != b.TypesInfo.Uses[a.use] {
		b.fail(a.use.Pos(), "the name "+name+" has another meaning here")
	}
}

// span is a range of the source.
type span struct{ start, end token.Pos }

func (s span) Pos() token.Pos { return s.start }
func (s span) End() token.Pos { return s.end }

// types gives the body's parameters their types, and returns the edits, or why it cannot.
func (l *plan) types(block *ast.BlockStmt, params []*param) ([]analysis.TextEdit, *stays) {
	b := &body{plan: l, block: block, params: params, oks: map[types.Object]token.Pos{}, done: map[ast.Node]bool{}, seen: map[ast.Node]*param{}}
	for _, b.at = range params {
		ast.Inspect(block, func(n ast.Node) bool {
			if n == nil || b.failed != nil || b.isRemoved(n) {
				return false
			}
			b.node(n)
			return true
		})
	}
	b.checkOK()
	for i := range b.slots {
		b.rename(&b.slots[i])
	}
	for _, s := range b.slots {
		b.fill(s)
	}
	for _, b.at = range params {
		b.rest()
	}
	for _, a := range b.aliases {
		b.checkAlias(a)
		a.param.used = true
		b.edits = append(b.edits, replace(a.use.Pos(), a.use.End(), a.param.text))
	}
	if b.failed != nil {
		return nil, b.failed
	}
	return slices.DeleteFunc(b.edits, func(e analysis.TextEdit) bool {
		return slices.ContainsFunc(b.removed, func(n ast.Node) bool {
			if e.Pos == e.End {
				return n.Pos() < e.Pos && e.End < n.End()
			}
			return n.Pos() <= e.Pos && e.End <= n.End() && !b.isEditOf(e, n)
		})
	}), nil
}

// isEditOf reports whether an edit is the one that removes a range.
func (b *body) isEditOf(e analysis.TextEdit, n ast.Node) bool {
	return e.Pos == n.Pos() && e.End == n.End() || b.done[n]
}

func (b *body) fail(at token.Pos, why string) {
	if b.failed == nil {
		b.failed = &stays{at, why}
	}
}

func (b *body) isRemoved(n ast.Node) bool {
	return slices.ContainsFunc(b.removed, func(r ast.Node) bool { return r.Pos() <= n.Pos() && n.End() <= r.End() })
}

// change replaces a range by text.
func (b *body) change(start, end token.Pos, text string) {
	b.removed = append(b.removed, span{start, end})
	b.edits = append(b.edits, replace(start, end, text))
}

// remove removes statements with their lines, and a comment before them about tombstones.
func (b *body) remove(start, end token.Pos) {
	file := b.file(start)
	for _, group := range file.Comments {
		text := strings.ToLower(group.Text())
		about := strings.Contains(text, "tombstone") || strings.Contains(text, "finalstate") || strings.Contains(text, "delete is dropped")
		if about && b.block.Lbrace < group.Pos() && b.Fset.Position(group.End()).Line == b.Fset.Position(start).Line-1 {
			start = group.Pos()
		}
	}
	start, end = b.lines(start, end)
	b.change(start, end, "")
}

// lines extends a range to the lines that it fills, and a blank line after them.
func (b *body) lines(start, end token.Pos) (token.Pos, token.Pos) {
	source, file := b.source(start), b.Fset.File(start)
	if source == nil {
		return start, end
	}
	from, to := file.Offset(start), file.Offset(end)
	line := bytes.LastIndexByte(source[:from], '\n') + 1
	rest := bytes.IndexByte(source[to:], '\n')
	if rest < 0 || len(bytes.TrimSpace(source[line:from])) > 0 || len(bytes.TrimSpace(source[to:to+rest])) > 0 {
		return start, end
	}
	from, to = line, to+rest+1
	if next := bytes.IndexByte(source[to:], '\n'); next >= 0 && len(bytes.TrimSpace(source[to:to+next])) == 0 {
		before := bytes.TrimRight(source[:from], " \t")
		if bytes.HasSuffix(before, []byte("\n\n")) || bytes.HasSuffix(before, []byte("{\n")) {
			to += next + 1
		}
	}
	return file.Pos(from), file.Pos(to)
}

// cast returns the cast of the parameter that an expression is, or nil.
func (b *body) cast(e ast.Expr) *ast.TypeAssertExpr {
	a, ok := ast.Unparen(e).(*ast.TypeAssertExpr)
	if !ok {
		return nil
	}
	if id, ok := ast.Unparen(a.X).(*ast.Ident); !ok || b.TypesInfo.Uses[id] != b.at.object {
		return nil
	}
	return a
}

// succeeds reports whether a cast of the parameter to a type does, which is known for
// its own type, interfaces that it has, and tombstones.
func (b *body) succeeds(e ast.Expr) bool {
	t := b.TypesInfo.TypeOf(e)
	if types.Identical(t, b.at.typ) || isTombstone(t) {
		return !isTombstone(t)
	}
	if i, ok := t.Underlying().(*types.Interface); ok && types.Implements(b.at.typ, i) {
		return true
	}
	if types.IsInterface(t) || types.IsInterface(b.at.typ) {
		b.fail(e.Pos(), "this cast may fail or not")
	}
	return false
}

// set notes a statement that sets a variable to a cast parameter.
func (b *body) set(s *ast.AssignStmt, cast *ast.TypeAssertExpr, start, end token.Pos, top bool) {
	var convert ast.Expr
	if !types.Identical(b.TypesInfo.TypeOf(cast.Type), b.at.typ) {
		convert = cast.Type
	}
	id, isIdent := s.Lhs[0].(*ast.Ident)
	var v types.Object
	if isIdent && s.Tok == token.DEFINE {
		v = b.TypesInfo.Defs[id]
	}
	b.removed = append(b.removed, span{start, end})
	b.slots = append(b.slots, slot{
		param: b.at, variable: v, start: start, end: end, convert: convert, stmt: s, blank: isIdent && id.Name == "_", top: top,
	})
}

// isUnused reports whether the variable that is set is not used.
func (b *body) isUnused(s slot) bool {
	return s.blank || s.variable != nil && !b.isLive(s.variable)
}

// rename gives the parameter the name of a variable, if it can take its place.
func (b *body) rename(s *slot) {
	if s.variable != nil && s.convert == nil && s.top && !b.isUnused(*s) && b.canRename(*s) {
		s.param.text, s.param.rename, s.param.used, s.renamed = s.variable.Name(), false, true, true
	}
}

// fill writes what sets a variable: nothing if the variable is not used, or if the parameter
// gets its name.
func (b *body) fill(s slot) {
	b.done[span{s.start, s.end}] = true
	if s.renamed || b.isUnused(s) {
		start, end := s.start, s.end
		if s.start == s.stmt.Pos() || s.top {
			start, end = b.lines(start, end)
		}
		b.change(start, end, "")
		return
	}
	s.param.used = true
	text, target := s.param.text, types.ExprString(s.stmt.Lhs[0])
	switch {
	case s.variable == nil:
		text = target + " = " + text
	case s.convert != nil && s.start == s.stmt.Pos() && s.end == s.stmt.End():
		text = target + " := " + types.ExprString(s.convert) + "(" + text + ")"
	case s.convert != nil:
		text = "var " + target + " " + types.ExprString(s.convert) + " = " + text
	default:
		text = target + " := " + text
	}
	if source := b.source(s.end); s.end != s.stmt.End() && (source == nil || source[b.Fset.File(s.end).Offset(s.end)] != '\n') {
		text += "\n"
	}
	b.edits = append(b.edits, replace(s.start, s.end, text))
}

// isLive reports whether a variable is used in code that is not removed.
func (b *body) isLive(v types.Object) bool {
	return slices.ContainsFunc(b.uses[v], func(id *ast.Ident) bool { return !b.isRemoved(id) })
}

// canRename reports whether the parameter can take the variable's place.
func (b *body) canRename(s slot) bool {
	name := s.variable.Name()
	if !s.param.rename || name == "_" {
		return false
	}
	for _, other := range b.params {
		if other != s.param && (other.text == name || other.object.Name() == name) {
			return false
		}
	}
	others := b.isLive(s.param.object)
	for _, other := range b.slots {
		others = others || other.param == s.param && other.stmt != s.stmt && !b.isUnused(other)
	}
	for n := range ast.Preorder(b.block) {
		id, ok := n.(*ast.Ident)
		if !ok || id.Name != name || b.isRemoved(id) {
			continue
		}
		object := b.TypesInfo.ObjectOf(id)
		selector, isSelector := b.parents[id].(*ast.SelectorExpr)
		switch {
		case object == s.variable:
			if others && b.TypesInfo.Defs[id] == nil && b.isSet(id) {
				return false
			}
		case isSelector && selector.Sel == id:
		default:
			_, isKey := b.parents[id].(*ast.KeyValueExpr)
			v, isVar := object.(*types.Var)
			if !isKey || !isVar || !v.IsField() {
				return false
			}
		}
	}
	return true
}

// checkOK removes results of casts from conditions, and fails if one is used in the rest. The declaration of
// one that is not used any more goes.
func (b *body) checkOK() {
	for ok := range b.oks {
		for _, id := range b.uses[ok] {
			if !b.isRemoved(id) {
				b.conditionOf(id)
			}
		}
	}
	for ok, at := range b.oks {
		if b.isLive(ok) {
			b.fail(at, "the result "+ok.Name()+" of a cast is used in a way that is not known")
			continue
		}
		for n := range ast.Preorder(b.block) {
			if d, isDecl := n.(*ast.DeclStmt); isDecl {
				b.undeclare(d, ok)
			}
		}
	}
}

// undeclare removes a variable from a declaration.
func (b *body) undeclare(d *ast.DeclStmt, v types.Object) {
	specs := d.Decl.(*ast.GenDecl).Specs
	for _, s := range specs {
		spec, isVar := s.(*ast.ValueSpec)
		if !isVar || len(spec.Values) > 0 {
			continue
		}
		i := slices.IndexFunc(spec.Names, func(id *ast.Ident) bool { return b.TypesInfo.Defs[id] == v })
		switch {
		case i < 0:
		case len(spec.Names) > 1: // others of its type, which may go, too
			b.change(spec.Names[i].Pos(), spec.Names[i].End(), "_")
		case len(specs) > 1:
			b.remove(spec.Pos(), spec.End())
		default:
			b.remove(d.Pos(), d.End())
		}
	}
}

// rest writes the parameter's other uses.
func (b *body) rest() {
	for _, id := range b.uses[b.at.object] {
		if b.isRemoved(id) {
			continue
		}
		b.at.used = true
		parent := b.parents[id]
		if cast := b.castOf(id); cast != nil {
			if b.succeeds(cast.Type); isTombstone(b.TypesInfo.TypeOf(cast.Type)) {
				b.fail(cast.Pos(), "code for tombstones has no known shape here")
			}
			text := b.at.text
			if !types.Identical(b.TypesInfo.TypeOf(cast.Type), b.at.typ) {
				text = types.ExprString(cast.Type) + "(" + text + ")"
			}
			b.edits = append(b.edits, replace(cast.Pos(), cast.End(), text))
			continue
		}
		_, compared := parent.(*ast.BinaryExpr)
		if b.isSet(id) || !compared && b.wanted(id) == nil {
			b.fail(id.Pos(), id.Name+" is used here as a variable of type any")
		}
		b.edits = append(b.edits, replace(id.Pos(), id.End(), b.at.text))
	}
}

// castOf returns the cast of one value whose operand an identifier is, or nil.
func (b *body) castOf(id *ast.Ident) *ast.TypeAssertExpr {
	cast, ok := b.parents[id].(*ast.TypeAssertExpr)
	if !ok || cast.Type == nil {
		return nil
	}
	if tuple, ok := b.TypesInfo.TypeOf(cast).(*types.Tuple); ok && tuple.Len() == 2 {
		return nil
	}
	return cast
}
