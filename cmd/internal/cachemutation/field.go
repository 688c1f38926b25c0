package cachemutation

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// findFields finds the values that the package stores in its fields and variables. Exported ones may be set by other packages.
func (p *program) findFields() {
	for _, fn := range p.functions {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				s, ok := instr.(*ssa.Store)
				if !ok {
					continue
				}
				switch v := variable(s.Addr).(type) {
				case *types.Var:
					if v.Exported() || v.Pkg() != p.pass.Pkg {
						continue
					}
					p.stored[v] = append(p.stored[v], s.Val)
				case *ssa.Global:
					if obj := v.Object(); obj != nil && !obj.Exported() {
						p.stored[v] = append(p.stored[v], s.Val)
					}
				}
			}
		}
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
