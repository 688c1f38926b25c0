package migrate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/kubetyped/informer/cmd/internal/kube"
)

// objects returns the type of the objects that a handler is called with: that of the
// informer it is added to or, if that is not known, the one that its functions cast to.
func (p *program) objects(handler ast.Expr, functions []handlerFunc) (types.Type, *stays) {
	of := p.informerOf(handler)
	cast, at, s := p.casts(functions)
	switch {
	case of == several:
		return nil, &stays{handler.Pos(), "it is added to informers of several types"}
	case of != nil && cast != nil && !types.Identical(of, cast):
		return nil, &stays{at, "this cast is not to the type of the informer's objects"}
	case of == nil && s != nil:
		return nil, s
	case of == nil && cast == nil:
		return nil, &stays{handler.Pos(), "the type of its objects is not known: the informer is not made here, and no function casts to it"}
	case of == nil:
		of = cast
	}
	if !isObject(of) {
		return nil, &stays{handler.Pos(), "the type of its objects is no pointer to a struct with a name and a namespace"}
	}
	return of, nil
}

// isObject reports whether objects of a type can be those of a typed handler.
func isObject(t types.Type) bool {
	pointer, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	if _, ok := pointer.Elem().Underlying().(*types.Struct); !ok {
		return false
	}
	for _, name := range []string{"GetName", "GetNamespace"} {
		method, _, _ := types.LookupFieldOrMethod(t, false, nil, name)
		if _, ok := method.(*types.Func); !ok {
			return false
		}
	}
	return true
}

// informerOf returns the type of the objects of the informer that a handler is added to, nil if
// it is not known, or several.
func (p *program) informerOf(handler ast.Expr) types.Type {
	for {
		switch parent := p.parents[handler].(type) {
		case *ast.KeyValueExpr:
			filter, ok := p.parents[parent].(*ast.CompositeLit)
			if !ok || !kube.IsType(p.TypesInfo.TypeOf(filter), kube.Cache, "FilteringResourceEventHandler") {
				return nil
			}
			handler = filter
			continue
		case *ast.UnaryExpr, *ast.ParenExpr:
			handler = parent.(ast.Expr)
			continue
		case *ast.CallExpr:
			selector, ok := ast.Unparen(parent.Fun).(*ast.SelectorExpr)
			if !ok || parent.Fun == handler || !isAdd(selector.Sel.Name) {
				return nil
			}
			return p.informs(selector.X, 0)
		case *ast.AssignStmt:
			return p.informerOfVariable(p.defined(handler))
		}
		return nil
	}
}

func isAdd(name string) bool {
	return name == "AddEventHandler" || name == "AddEventHandlerWithOptions" || name == "AddEventHandlerWithResyncPeriod"
}

// informerOfVariable returns the type of the objects of the informers that a handler in a
// variable is added to, if they have one.
func (p *program) informerOfVariable(v types.Object) types.Type {
	return common(p.uses[v], func(use *ast.Ident) types.Type { return p.informerOf(use) })
}

// several stands for more than one type.
var several types.Type = types.Typ[types.Invalid]

// common returns the type that all have, nil if that of one is not known, or several.
func common[E any](all []E, typeOf func(E) types.Type) (of types.Type) {
	unknown := false
	for _, one := range all {
		switch t := typeOf(one); {
		case t == nil:
			unknown = true
		case of != nil && !types.Identical(of, t):
			return several
		default:
			of = t
		}
	}
	if unknown && of != several {
		return nil
	}
	return of
}

// informs returns the type of an informer's objects, or nil.
func (p *program) informs(e ast.Expr, depth int) types.Type {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		return p.informsCall(call)
	}
	return p.informsVariable(p.TypesInfo.Uses[nameOf(e)], depth)
}

func (p *program) informsCall(call *ast.CallExpr) types.Type {
	f, _ := typeutil.Callee(p.TypesInfo, call).(*types.Func)
	switch {
	case f == nil:
		return nil
	case kube.IsFunc(f, kube.Cache, "NewSharedIndexInformer", "NewSharedInformer", "NewSharedIndexInformerWithOptions", "NewSharedInformerWithOptions"),
		kube.IsFunc(f, adaptersPath, "NewSharedIndexInformer", "NewSharedInformer", "NewSharedIndexInformerWithOptions"):
		if len(call.Args) > 1 && !types.IsInterface(p.TypesInfo.TypeOf(call.Args[1])) {
			return p.TypesInfo.TypeOf(call.Args[1])
		}
	case f.Name() == "Informer":
		if selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
			return listed(p.TypesInfo.TypeOf(selector.X))
		}
	}
	return nil
}

// listed returns the type of the objects that the lister of a generated informer lists.
func listed(informer types.Type) types.Type {
	lister := resultOf(informer, "Lister")
	if lister == nil {
		return nil
	}
	if slice, ok := resultOf(lister, "List").(*types.Slice); ok && !types.IsInterface(slice.Elem()) {
		return slice.Elem()
	}
	return nil
}

func resultOf(t types.Type, method string) types.Type {
	found, _, _ := types.LookupFieldOrMethod(t, true, nil, method)
	f, ok := found.(*types.Func)
	if !ok || f.Signature().Results().Len() == 0 {
		return nil
	}
	return f.Signature().Results().At(0).Type()
}

// informsVariable returns the type of the objects of the informers that the package sets
// a variable or field to, if all of them have one.
func (p *program) informsVariable(v types.Object, depth int) types.Type {
	variable, ok := origin(v).(*types.Var)
	if !ok || depth > 2 {
		return nil
	}
	values, known := p.valuesOf(variable)
	if !known {
		return nil
	}
	return common(values, func(value ast.Expr) types.Type { return p.informs(value, depth+1) })
}

// valuesOf returns what the package sets a variable to, false if it may have other values.
func (p *program) valuesOf(v *types.Var) (values []ast.Expr, known bool) {
	if v.Exported() && (v.IsField() || v.Parent() == p.Pkg.Scope()) || v.Pkg() != p.Pkg {
		return nil, false
	}
	known = true
	visit := func(id *ast.Ident) {
		var target ast.Expr = id
		if s, ok := p.parents[id].(*ast.SelectorExpr); ok && s.Sel == id {
			target = s
		}
		switch parent := p.parents[target].(type) {
		case *ast.AssignStmt:
			if i := slices.Index(parent.Lhs, target); i >= 0 {
				if known = known && len(parent.Lhs) == len(parent.Rhs); known {
					values = append(values, parent.Rhs[i])
				}
			}
		case *ast.KeyValueExpr:
			if _, ok := p.parents[parent].(*ast.CompositeLit); ok && parent.Key == target {
				values = append(values, parent.Value)
			}
		case *ast.UnaryExpr:
			known = known && parent.Op != token.AND
		case *ast.RangeStmt:
			literal, isLiteral := ast.Unparen(parent.X).(*ast.CompositeLit)
			if parent.Value == target && isLiteral {
				values = append(values, elementsOf(literal)...)
			} else {
				known = known && parent.Key != target && parent.Value != target
			}
		case *ast.Field:
			known = known && v.IsField() // a parameter has the values of arguments
		case *ast.ValueSpec:
			if i := slices.Index(parent.Names, id); i >= 0 && len(parent.Values) == len(parent.Names) {
				values = append(values, parent.Values[i])
			}
		}
	}
	for id, object := range p.TypesInfo.Defs {
		if object == v {
			visit(id)
		}
	}
	for _, id := range p.uses[v] {
		visit(id)
	}
	return append(values, p.unkeyed(v)...), known
}

// elementsOf returns the elements of a slice, an array or a map.
func elementsOf(lit *ast.CompositeLit) (all []ast.Expr) {
	for _, element := range lit.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			element = pair.Value
		}
		all = append(all, element)
	}
	return all
}

// unkeyed returns what literals without names of fields set a field to.
func (p *program) unkeyed(v *types.Var) (values []ast.Expr) {
	if !v.IsField() {
		return nil
	}
	for e := range p.TypesInfo.Types {
		lit, ok := e.(*ast.CompositeLit)
		if !ok {
			continue
		}
		t := p.TypesInfo.TypeOf(lit).Underlying()
		if pointer, ok := t.(*types.Pointer); ok {
			t = pointer.Elem().Underlying()
		}
		of, ok := t.(*types.Struct)
		if !ok {
			continue
		}
		for i, element := range lit.Elts {
			if _, keyed := element.(*ast.KeyValueExpr); !keyed && of.Field(i).Origin() == v {
				values = append(values, element)
			}
		}
	}
	return values
}

// casts returns the type that the functions of a handler, and those of the package that
// they call with its objects, cast objects to, and where. It is an error if there are two.
func (p *program) casts(functions []handlerFunc) (of types.Type, at token.Pos, s *stays) {
	see := func(e *ast.TypeAssertExpr) {
		if e.Type == nil {
			return
		}
		t := p.TypesInfo.TypeOf(e.Type)
		if types.IsInterface(t) || isTombstone(t) {
			return
		}
		if of != nil && !types.Identical(of, t) && s == nil {
			s = &stays{e.Pos(), "its functions cast objects to several types"}
		}
		of, at = t, e.Pos()
	}
	for _, f := range functions {
		for i := range f.objects() {
			p.castsIn(f.value, i, 0, see)
		}
	}
	return of, at, s
}

// castsIn calls see for each cast of a function's parameter.
func (p *program) castsIn(f ast.Expr, param, depth int, see func(*ast.TypeAssertExpr)) {
	fn := p.functionOf(f)
	if fn == nil || depth > 2 {
		return
	}
	v, _ := paramAt(p.TypesInfo, fn.kind, param)
	if v == nil {
		return
	}
	for _, use := range p.uses[v] {
		switch parent := p.parents[use].(type) {
		case *ast.TypeAssertExpr:
			if !p.isGuess(parent) {
				see(parent)
			}
		case *ast.CallExpr:
			for i, arg := range parent.Args {
				if arg == use {
					p.castsIn(parent.Fun, i, depth+1, see)
				}
			}
		}
	}
}

// isGuess reports whether a cast says nothing about the types of objects: a failure is none.
func (p *program) isGuess(e *ast.TypeAssertExpr) bool {
	assign, ok := p.parents[e].(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 2 {
		return false
	}
	branch, ok := p.parents[assign].(*ast.IfStmt)
	if !ok {
		return false
	}
	_, negated := branch.Cond.(*ast.UnaryExpr)
	return !negated && branch.Else == nil
}

// function is a function with a body.
type function struct {
	decl *ast.FuncDecl // nil if it is a literal
	kind *ast.FuncType
	body *ast.BlockStmt
}

// functionOf returns the function of the package that an expression names, or is.
func (p *program) functionOf(e ast.Expr) *function {
	if lit, ok := ast.Unparen(e).(*ast.FuncLit); ok {
		return &function{nil, lit.Type, lit.Body}
	}
	return p.declared(origin(p.TypesInfo.Uses[nameOf(e)]))
}

// declared returns the function that is declared in the package, or that a variable has.
func (p *program) declared(object types.Object) *function {
	if v, ok := object.(*types.Var); ok {
		if lit := p.closure(v); lit != nil {
			return &function{nil, lit.Type, lit.Body}
		}
	}
	if f, ok := object.(*types.Func); !ok || f.Pkg() != p.Pkg {
		return nil
	}
	for _, file := range p.Files {
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil && p.TypesInfo.Defs[d.Name] == object {
				return &function{d, d.Type, d.Body}
			}
		}
	}
	return nil
}

// paramAt returns a parameter and its field, or nil if it has no name.
func paramAt(info *types.Info, f *ast.FuncType, i int) (types.Object, *ast.Field) {
	for _, field := range f.Params.List {
		for _, name := range field.Names {
			if i == 0 {
				return info.Defs[name], field
			}
			i--
		}
		if len(field.Names) == 0 {
			i--
		}
	}
	return nil, nil
}

func isTombstone(t types.Type) bool {
	return kube.IsType(t, kube.Cache, "DeletedFinalStateUnknown")
}
