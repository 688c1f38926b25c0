package migrate

import (
	"go/ast"
	"go/types"
	"slices"
)

// wanted returns the interface that an expression is converted to where it is used, or
// nil if its own type is what counts there.
func (p *program) wanted(e ast.Expr) types.Type {
	var t types.Type
	switch parent := p.parents[e].(type) {
	case *ast.ParenExpr:
		return p.wanted(parent)
	case *ast.CallExpr:
		t = p.wantedByCall(parent, e)
	case *ast.KeyValueExpr:
		if lit, ok := p.parents[parent].(*ast.CompositeLit); ok && parent.Value == e {
			t = p.wantedByLiteral(lit, parent)
		}
	case *ast.CompositeLit:
		t = p.wantedByLiteral(parent, e)
	case *ast.AssignStmt:
		if i := slices.Index(parent.Rhs, e); i >= 0 && len(parent.Lhs) == len(parent.Rhs) {
			if id, ok := parent.Lhs[i].(*ast.Ident); !ok || p.TypesInfo.Defs[id] == nil && id.Name != "_" {
				t = p.TypesInfo.TypeOf(parent.Lhs[i])
			}
		}
	case *ast.ValueSpec:
		if parent.Type != nil {
			t = p.TypesInfo.TypeOf(parent.Type)
		}
	case *ast.SendStmt:
		if channel, ok := p.TypesInfo.TypeOf(parent.Chan).Underlying().(*types.Chan); ok && parent.Value == e {
			t = channel.Elem()
		}
	case *ast.ReturnStmt:
		t = p.wantedByReturn(parent, slices.Index(parent.Results, e))
	}
	if t == nil || !types.IsInterface(t) {
		return nil
	}
	if _, isParam := types.Unalias(t).(*types.TypeParam); isParam {
		return nil
	}
	return t
}

func (p *program) wantedByCall(call *ast.CallExpr, arg ast.Expr) types.Type {
	i := slices.Index(call.Args, arg)
	if i < 0 {
		return nil
	}
	if t := p.TypesInfo.Types[call.Fun]; t.IsType() {
		return t.Type
	}
	signature, ok := p.TypesInfo.TypeOf(call.Fun).Underlying().(*types.Signature)
	if !ok || p.isInferred(call.Fun) || p.TypesInfo.Types[call.Fun].IsBuiltin() {
		return nil
	}
	params := signature.Params()
	if signature.Variadic() && i >= params.Len()-1 {
		slice, ok := params.At(params.Len() - 1).Type().(*types.Slice)
		if !ok || call.Ellipsis.IsValid() {
			return nil
		}
		return slice.Elem()
	}
	if i >= params.Len() {
		return nil
	}
	return params.At(i).Type()
}

// isInferred reports whether a function is generic: arguments may decide its types.
func (p *program) isInferred(f ast.Expr) bool {
	_, generic := p.TypesInfo.Instances[nameOf(f)]
	return generic
}

// wantedByLiteral returns what the value of an element is converted to.
func (p *program) wantedByLiteral(lit *ast.CompositeLit, element ast.Expr) types.Type {
	t := p.TypesInfo.TypeOf(lit).Underlying()
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem().Underlying()
	}
	switch t := t.(type) {
	case *types.Struct:
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			return p.TypesInfo.TypeOf(pair.Key)
		}
		if i := slices.Index(lit.Elts, element); 0 <= i && i < t.NumFields() {
			return t.Field(i).Type()
		}
	case interface{ Elem() types.Type }: // a map, slice or array
		return t.Elem()
	}
	return nil
}

func (p *program) wantedByReturn(s *ast.ReturnStmt, i int) types.Type {
	for n := ast.Node(s); n != nil && i >= 0; n = p.parents[n] {
		var kind *ast.FuncType
		switch f := n.(type) {
		case *ast.FuncLit:
			kind = f.Type
		case *ast.FuncDecl:
			kind = f.Type
		default:
			continue
		}
		signature, ok := p.TypesInfo.TypeOf(kind).(*types.Signature)
		if !ok || signature.Results().Len() != len(s.Results) {
			return nil
		}
		return signature.Results().At(i).Type()
	}
	return nil
}
