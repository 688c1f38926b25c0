package migrate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
)

// literal gives a function literal of the handler typed parameters.
func (l *plan) literal(f handlerFunc, lit *ast.FuncLit, name string) *stays {
	deleted := "deleted"
	for hasName(lit.Body, deleted) {
		deleted += "Object"
	}
	var params []*param
	objects := make([]*param, f.objects())
	for i := range objects {
		v, _ := paramAt(l.TypesInfo, lit.Type, i)
		if v == nil || v.Name() == "_" {
			continue
		}
		p := &param{object: v, typ: l.of, text: v.Name(), rename: true}
		if f.event == "Delete" {
			p.text, p.rename = deleted+".Object", false
		}
		objects[i], params = p, append(params, p)
		l.params[v] = true
	}
	l.calledWith(lit.Body, params)
	edits, s := l.types(lit.Body, params)
	if s != nil {
		return s
	}
	text := func(p *param) string {
		if p == nil {
			return "_"
		}
		return p.text
	}
	var head string
	switch f.event {
	case "Add":
		initial := "_"
		if v, _ := paramAt(l.TypesInfo, lit.Type, 1); f.detailed && v != nil {
			initial = v.Name()
		}
		head = text(objects[0]) + " " + name + ", " + initial + " bool"
	case "Update":
		head = text(objects[0]) + ", " + text(objects[1]) + " " + name
	case "Delete":
		if objects[0] == nil || !objects[0].used {
			deleted = "_"
		}
		head = deleted + " " + l.typed + ".Deleted[" + name + "]"
	}
	l.text = append(l.text, replace(lit.Type.Params.Opening, lit.Type.Params.Closing+1, "("+head+")"))
	l.text = append(l.text, edits...)
	return nil
}

// calledWith notes the functions that are called with parameters of the handler.
func (l *plan) calledWith(body *ast.BlockStmt, params []*param) {
	for _, p := range params {
		for _, use := range l.uses[p.object] {
			call, ok := l.parents[use].(*ast.CallExpr)
			if !ok || call.Pos() < body.Pos() || body.End() < call.Pos() {
				continue
			}
			if i := slices.Index(call.Args, ast.Expr(use)); i >= 0 {
				l.candidate(l.callee(call), i)
			}
		}
	}
}

// callee returns the function or variable that is called, or nil.
func (p *program) callee(call *ast.CallExpr) types.Object {
	return origin(p.TypesInfo.Uses[nameOf(call.Fun)])
}

// nameOf returns the identifier that an expression is, or selects, or nil.
func nameOf(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	}
	return nil
}

// candidate notes a function whose parameter may get the type of objects.
func (l *plan) candidate(f types.Object, i int) {
	if f == nil || f.Exported() || f.Pkg() != l.Pkg {
		return
	}
	if l.calls[f] == nil {
		l.calls[f] = map[int]bool{}
		l.order = append(l.order, f)
	}
	l.calls[f][i] = true
}

// retype gives a function that is called with objects typed parameters, if it casts
// them, and nothing calls it with something else.
func (l *plan) retype(f types.Object) {
	fn := l.declared(f)
	if fn == nil || ast.IsGenerated(l.file(fn.body.Pos())) || l.isNamedElsewhere(f) || l.isMethodOfInterface(f) {
		return
	}
	var params []*param
	var fields []*ast.Field
	for i := range 16 {
		v, field := paramAt(l.TypesInfo, fn.kind, i)
		if !l.calls[f][i] || v == nil {
			continue
		}
		t := l.castIn(v)
		if t == nil || !isAny(v.Type()) {
			continue
		}
		params, fields = append(params, &param{object: v, typ: t, text: v.Name(), rename: true}), append(fields, field)
		if !l.isAlwaysCalledWith(f, i, t) {
			return
		}
	}
	if len(params) == 0 || !l.areWhole(fields) {
		return
	}
	edits, s := l.types(fn.body, params)
	if s != nil {
		return
	}
	for i, p := range params {
		name, s := l.typeName(fields[i].Pos(), p.typ)
		if s != nil {
			return
		}
		for _, id := range fields[i].Names {
			if l.TypesInfo.Defs[id] == p.object && id.Name != p.text {
				edits = append(edits, replace(id.Pos(), id.End(), p.text))
			}
		}
		if i == 0 || fields[i] != fields[i-1] {
			edits = append(edits, replace(fields[i].Type.Pos(), fields[i].Type.End(), name))
		}
	}
	l.text = append(l.text, edits...)
}

// areWhole reports whether all names of the fields are typed: each field is there as often as it
// has names.
func (l *plan) areWhole(fields []*ast.Field) bool {
	count := map[*ast.Field]int{}
	for _, f := range fields {
		count[f]++
	}
	for f, n := range count {
		if len(f.Names) != n {
			return false
		}
	}
	return true
}

func isAny(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.Empty()
}

// castIn returns the type that a parameter is cast to: that of objects or, if there is no
// cast to it, an interface that it has. It returns nil if there is none.
func (l *plan) castIn(v types.Object) (found types.Type) {
	for _, use := range l.uses[v] {
		cast, ok := l.parents[use].(*ast.TypeAssertExpr)
		if !ok {
			continue
		}
		if cast.Type == nil {
			return l.of
		}
		switch t := l.TypesInfo.TypeOf(cast.Type); {
		case types.Identical(t, l.of):
			return t
		case types.IsInterface(t) && found == nil && types.Implements(l.of, t.Underlying().(*types.Interface)):
			found = t
		}
	}
	return found
}

// isAlwaysCalledWith reports whether all calls of a function have an argument of a type,
// once the handler's functions are typed.
func (l *plan) isAlwaysCalledWith(f types.Object, i int, t types.Type) bool {
	for _, use := range l.uses[f] {
		if l.fine[use] {
			continue
		}
		var named ast.Expr = use
		if s, ok := l.parents[use].(*ast.SelectorExpr); ok && s.Sel == use {
			named = s
		}
		call, ok := l.parents[named].(*ast.CallExpr)
		if !ok || call.Fun != named || i >= len(call.Args) || call.Ellipsis.IsValid() {
			return false
		}
		if id, ok := call.Args[i].(*ast.Ident); ok && l.params[l.TypesInfo.Uses[id]] {
			continue
		}
		// A cast of nil fails: it has to stay.
		of := l.TypesInfo.TypeOf(call.Args[i])
		if types.IsInterface(of) || l.TypesInfo.Types[call.Args[i]].IsNil() || !types.AssignableTo(of, t) {
			return false
		}
	}
	return true
}

// isMethodOfInterface reports whether an interface of the package has a method of the name.
func (l *plan) isMethodOfInterface(f types.Object) bool {
	if f, ok := f.(*types.Func); !ok || f.Signature().Recv() == nil {
		return false
	}
	for _, t := range l.TypesInfo.Types {
		if i, ok := t.Type.(*types.Interface); ok && t.IsType() {
			for m := range i.Methods() {
				if m.Name() == f.Name() {
					return true
				}
			}
		}
	}
	return false
}

// isNamedElsewhere reports whether files of the package that are not looked at name a
// function: its tests, and files for other systems.
func (l *plan) isNamedElsewhere(f types.Object) bool {
	if _, isVar := f.(*types.Var); isVar {
		return false
	}
	have := map[string]bool{}
	for _, file := range l.Files {
		have[l.Fset.File(file.Pos()).Name()] = true
	}
	others, err := filepath.Glob(filepath.Join(filepath.Dir(l.Fset.File(f.Pos()).Name()), "*.go"))
	if err != nil {
		return true
	}
	for _, name := range others {
		if !have[name] && l.names(name, f.Name()) {
			return true
		}
	}
	return false
}

// names reports whether a file of the package, which may be its test, has an identifier.
func (l *plan) names(file, name string) bool {
	text, err := l.ReadFile(file)
	if err != nil {
		return !strings.HasPrefix(filepath.Base(file), ".")
	}
	if !strings.Contains(string(text), name) {
		return false
	}
	tree, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil || tree.Name.Name != l.Pkg.Name() {
		return err != nil
	}
	return hasName(tree, name)
}

// hasName reports whether a tree has an identifier.
func hasName(root ast.Node, name string) bool {
	for n := range ast.Preorder(root) {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			return true
		}
	}
	return false
}
