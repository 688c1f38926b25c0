package cachemutation

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// noteStored notes the value that the package stores in a field or variable, if other packages
// cannot set it, and that it is a store of the program's own.
func (p *program) noteStored(s *ssa.Store) {
	key := variable(s.Addr)
	if key != nil && slices.Contains(makesStore, madeBy(s.Val)) {
		p.private[key] = true
	}
	own := false
	switch v := key.(type) {
	case *types.Var:
		own = !v.Exported() && v.Pkg() == p.pass.Pkg
	case *ssa.Global:
		own = v.Object() != nil && !v.Object().Exported()
	}
	if own {
		p.stored[key] = append(p.stored[key], s.Val)
	}
}

// setOnce returns the value of a field or variable that a value was read from, if the
// package sets it in one place.
func (p *program) setOnce(v ssa.Value) ssa.Value {
	load, ok := v.(*ssa.UnOp)
	if !ok {
		return nil
	}
	key := variable(load.X)
	if key == nil {
		return nil
	}
	if all := p.stored[key]; len(all) == 1 {
		return all[0]
	}
	return nil
}
