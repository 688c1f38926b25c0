package cachemutation

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// ofInterface returns what all implementations of a method do, if they are in the package
// of the interface.
func (p *program) ofInterface(m *types.Func) *Summary {
	m = m.Origin()
	if m.Pkg() != p.pass.Pkg {
		return p.external(m)
	}
	if done, ok := p.done[m]; ok {
		if !done {
			p.recursive = true
		}
		return p.methods[m]
	}
	p.done[m] = false
	var all []*Summary
	for _, fn := range p.implementations(m) {
		sum := p.summaryOf(fn)
		if sum == nil {
			sum = &Summary{}
		}
		all = append(all, sum)
	}
	if len(all) > 0 {
		p.methods[m] = common(all)
	}
	p.done[m] = true
	return p.methods[m]
}

// implementations returns the methods of types of the package that implement one of an
// interface.
func (p *program) implementations(m *types.Func) (all []*ssa.Function) {
	recv := m.Signature().Recv()
	if recv == nil {
		return nil
	}
	iface, ok := recv.Type().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	scope := p.pass.Pkg.Scope()
	for _, name := range scope.Names() {
		tn, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || tn.IsAlias() {
			continue
		}
		named, ok := tn.Type().(*types.Named)
		if !ok || named.TypeParams().Len() > 0 || types.IsInterface(named) {
			continue
		}
		t := types.Type(types.NewPointer(named))
		if !types.Implements(t, iface) {
			continue
		}
		if fn := p.ssa.LookupMethod(t, m.Pkg(), m.Name()); fn != nil {
			all = append(all, fn)
		}
	}
	return all
}
