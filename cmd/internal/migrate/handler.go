package migrate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/kubetyped/informer/cmd/internal/kube"
)

var handlers = analyzer("handlers", `give handlers of informers typed functions

A cache.ResourceEventHandlerFuncs becomes a typed.HandlerFuncs in its place, which
adapters.ResourceEventHandler makes a handler of client-go. Casts go, and so does code
for cache.DeletedFinalStateUnknown: a deletion always has an object. Functions that the
handler alone calls get typed parameters.

Wrong:

	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { c.enqueue(obj.(*v1.Pod)) },
	})

Right:

	informer.AddEventHandler(adapters.ResourceEventHandler(typed.HandlerFuncs[*v1.Pod]{
		AddFunc: func(pod *v1.Pod, _ bool) { c.enqueue(pod) },
	}))`, func(p *program) {
	for _, file := range p.Files {
		for n := range ast.Preorder(file) {
			if lit, ok := n.(*ast.CompositeLit); ok && p.isFuncs(p.TypesInfo.TypeOf(lit)) {
				p.link()
				p.handler(lit)
			}
		}
	}
})

func (p *program) isFuncs(t types.Type) bool {
	if t == nil {
		return false
	}
	if _, isPointer := types.Unalias(t).(*types.Pointer); isPointer {
		return false
	}
	path, name := kube.TypeName(t)
	return path == kube.Cache && (name == "ResourceEventHandlerFuncs" || name == "ResourceEventHandlerDetailedFuncs")
}

// handlerFunc is a function of a handler.
type handlerFunc struct {
	event    string // Add, Update or Delete
	value    ast.Expr
	detailed bool // an AddFunc that knows whether the object is an initial one
}

// objects returns how many objects the function is called with.
func (f handlerFunc) objects() int {
	if f.event == "Update" {
		return 2
	}
	return 1
}

// functions returns the functions of a literal that are not nil.
func (p *program) functions(lit *ast.CompositeLit) (all []handlerFunc) {
	_, name := kube.TypeName(p.TypesInfo.TypeOf(lit))
	for i, elem := range lit.Elts {
		event, value := []string{"Add", "Update", "Delete"}[i], elem
		if pair, ok := elem.(*ast.KeyValueExpr); ok {
			field := pair.Key.(*ast.Ident).Name
			event, value = field[:len(field)-len("Func")], pair.Value
		}
		if !p.TypesInfo.Types[value].IsNil() {
			all = append(all, handlerFunc{event, ast.Unparen(value), event == "Add" && name == "ResourceEventHandlerDetailedFuncs"})
		}
	}
	return all
}

// plan is the change of one handler.
type plan struct {
	imports
	of    types.Type // of objects
	typed string     // the name of package typed
	text  []analysis.TextEdit
	// The parameters that get the type of objects, and those of functions which might.
	params map[types.Object]bool
	calls  map[types.Object]map[int]bool
	order  []types.Object
	// Where functions are used in a way that lets their parameters have that type.
	fine map[*ast.Ident]bool
}

// handler reports how a literal is changed, or why it stays.
func (p *program) handler(lit *ast.CompositeLit) {
	edits, s := p.plan(lit)
	if s != nil {
		p.leaves(lit.Type, "the handler", s)
		return
	}
	p.changes(lit.Type, "the handler's functions can be typed", edits)
}

func (p *program) plan(lit *ast.CompositeLit) ([]analysis.TextEdit, *stays) {
	var expr ast.Expr = lit
	for {
		parent, ok := p.parents[expr].(ast.Expr)
		address, isUnary := parent.(*ast.UnaryExpr)
		_, isParen := parent.(*ast.ParenExpr)
		if !ok || !isParen && (!isUnary || address.Op != token.AND) {
			break
		}
		expr = parent
	}
	if s := p.isHandler(expr); s != nil {
		return nil, s
	}
	functions := p.functions(lit)
	of, s := p.objects(expr, functions)
	if s != nil {
		return nil, s
	}
	l := &plan{
		imports: imports{program: p, names: map[*ast.File]map[string]string{}}, of: of,
		params: map[types.Object]bool{}, calls: map[types.Object]map[int]bool{}, fine: map[*ast.Ident]bool{},
	}
	adapters, s := l.name(lit.Pos(), adaptersPath, "adapters")
	if s != nil {
		return nil, s
	}
	if l.typed, s = l.name(lit.Pos(), typedPath, "typed"); s != nil {
		return nil, s
	}
	name, s := l.typeName(lit.Pos(), of)
	if s != nil {
		return nil, s
	}
	l.text = append(l.text,
		replace(expr.Pos(), lit.Lbrace, adapters+".ResourceEventHandler("+l.typed+".HandlerFuncs["+name+"]"),
		replace(lit.Rbrace+1, expr.End(), ")"))
	for _, f := range functions {
		if s := l.function(f, name); s != nil {
			return nil, s
		}
	}
	for _, f := range l.order {
		l.retype(f)
	}
	return append(l.text, l.edits...), nil
}

// isHandler returns why a handler cannot have another type, or nil: it is used as a
// cache.ResourceEventHandler.
func (p *program) isHandler(expr ast.Expr) *stays {
	if t := p.wanted(expr); t != nil {
		if _, name := kube.TypeName(t); name == "ResourceEventHandler" {
			return nil
		}
		return &stays{expr.Pos(), "it is used as a " + types.TypeString(t, types.RelativeTo(p.Pkg))}
	}
	v, ok := p.defined(expr).(*types.Var)
	if !ok {
		return &stays{expr.Pos(), "it is not used as a cache.ResourceEventHandler here"}
	}
	for _, use := range p.uses[v] {
		t := p.wanted(use)
		if _, name := kube.TypeName(t); t == nil || name != "ResourceEventHandler" {
			return &stays{use.Pos(), "it is not used as a cache.ResourceEventHandler here"}
		}
	}
	return nil
}

// defined returns the local variable that is defined as an expression, or nil.
func (p *program) defined(expr ast.Expr) types.Object {
	assign, ok := p.parents[expr].(*ast.AssignStmt)
	if !ok || assign.Tok != token.DEFINE || len(assign.Lhs) != len(assign.Rhs) {
		return nil
	}
	for i, rhs := range assign.Rhs {
		if rhs != expr {
			continue
		}
		if id, ok := assign.Lhs[i].(*ast.Ident); ok && p.TypesInfo.Defs[id] != nil {
			return p.TypesInfo.Defs[id]
		}
	}
	return nil
}

// function changes one function of the handler, of objects whose type has a name.
func (l *plan) function(f handlerFunc, name string) *stays {
	if lit, ok := f.value.(*ast.FuncLit); ok {
		return l.literal(f, lit, name)
	}
	object, s := l.named(f.value)
	if s != nil {
		return s
	}
	taken := map[string]bool{}
	for n := range ast.Preorder(f.value) {
		if id, ok := n.(*ast.Ident); ok {
			taken[id.Name] = true
			l.fine[id] = l.TypesInfo.Uses[id] == object
		}
	}
	free := func(names ...string) string {
		for taken[names[0]] {
			names[0] += "Object"
		}
		return names[0]
	}
	var head, args string
	switch obj := free("obj"); f.event {
	case "Add":
		head, args = obj+" "+name+", _ bool", obj
		if f.detailed {
			initial := free("initial")
			head, args = obj+" "+name+", "+initial+" bool", obj+", "+initial
		}
	case "Update":
		old, updated := free("old"), free("updated")
		head, args = old+", "+updated+" "+name, old+", "+updated
	case "Delete":
		deleted := free("deleted")
		head, args = deleted+" "+l.typed+".Deleted["+name+"]", deleted+".Object"
	}
	for i := range f.objects() {
		l.candidate(object, i)
	}
	l.text = append(l.text, replace(f.value.Pos(), f.value.Pos(), "func("+head+") { "), replace(f.value.End(), f.value.End(), "("+args+") }"))
	return nil
}

// named returns the function or variable that an expression names, if a call of it does
// later what it does now.
func (l *plan) named(e ast.Expr) (types.Object, *stays) {
	root := e
	var on []*ast.Ident // the fields and the variable whose method it is
	for {
		id := nameOf(root)
		if id == nil {
			return nil, &stays{e.Pos(), "this function is the result of an expression"}
		}
		on = append(on, id)
		selector, ok := root.(*ast.SelectorExpr)
		if !ok {
			break
		}
		root = ast.Unparen(selector.X)
	}
	object := origin(l.TypesInfo.Uses[on[0]])
	if v, ok := object.(*types.Var); ok && l.closure(v) == nil {
		return nil, &stays{e.Pos(), "this variable may be nil, or have another function later"}
	}
	if object == nil {
		return nil, &stays{e.Pos(), "this function is the result of an expression"}
	}
	for _, id := range on {
		if v, ok := origin(l.TypesInfo.Uses[id]).(*types.Var); ok && l.isSetLater(v, e) {
			return nil, &stays{e.Pos(), v.Name() + " may be set again later"}
		}
	}
	for _, v := range copied(object) {
		if l.isSetLater(v, e) {
			return nil, &stays{e.Pos(), "the method has a copy of " + v.Name() + ", which may be set again later"}
		}
	}
	return object, nil
}

// copied returns the fields of the struct that a method value has a copy of, if it is a method
// of a struct and not of a pointer.
func copied(f types.Object) (fields []*types.Var) {
	method, ok := f.(*types.Func)
	if !ok || method.Signature().Recv() == nil {
		return nil
	}
	if of, ok := method.Signature().Recv().Type().Underlying().(*types.Struct); ok {
		for v := range of.Fields() {
			fields = append(fields, v.Origin())
		}
	}
	return fields
}

// isSetLater reports whether a variable or field is set, or its address is taken, after an
// expression in its function, in a loop that reaches it again, or in another function.
func (p *program) isSetLater(v *types.Var, after ast.Expr) bool {
	return slices.ContainsFunc(p.uses[v], func(use *ast.Ident) bool {
		return p.isSet(use) && (use.Pos() > after.End() || p.mayFollow(use, v, after))
	})
}

// mayFollow reports whether an assignment that stands before an expression may run after it: it is
// in another function, or in a loop or function literal around both, in which the variable is
// not declared.
func (p *program) mayFollow(use *ast.Ident, v *types.Var, after ast.Expr) bool {
	for n := p.parents[use]; n != nil; n = p.parents[n] {
		around := n.Pos() <= after.Pos() && after.End() <= n.End()
		declares := n.Pos() <= v.Pos() && v.Pos() < n.End()
		switch n.(type) {
		case *ast.FuncDecl:
			return !around
		case *ast.FuncLit:
			return !around || !declares && !v.IsField()
		case *ast.ForStmt, *ast.RangeStmt:
			if around && !declares {
				return true
			}
		}
	}
	return true
}

// isSet reports whether a variable or field is assigned to here, or its address is taken.
func (p *program) isSet(use *ast.Ident) bool {
	var target ast.Expr = use
	if s, ok := p.parents[use].(*ast.SelectorExpr); ok && s.Sel == use {
		target = s
	}
	switch parent := p.parents[target].(type) {
	case *ast.AssignStmt:
		return slices.Contains(parent.Lhs, target)
	case *ast.UnaryExpr:
		return parent.Op == token.AND
	case *ast.IncDecStmt:
		return true
	case *ast.RangeStmt:
		return parent.Key == target || parent.Value == target
	}
	return false
}

// closure returns the function literal that is a variable's only value, or nil.
func (p *program) closure(v *types.Var) *ast.FuncLit {
	if v.IsField() || v.Parent() == p.Pkg.Scope() {
		return nil
	}
	if slices.ContainsFunc(p.uses[v], p.isSet) {
		return nil
	}
	file := p.file(v.Pos())
	if file == nil {
		return nil
	}
	for n := range ast.Preorder(file) {
		if lit, ok := n.(*ast.FuncLit); ok && p.defined(lit) == v {
			return lit
		}
	}
	return nil
}
