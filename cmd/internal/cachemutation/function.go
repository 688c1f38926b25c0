package cachemutation

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// callee returns the function that is called, and its captured variables if they are those
// of this function.
func (f *frame) callee(common *ssa.CallCommon) (*ssa.Function, []ssa.Value) {
	if callee := common.StaticCallee(); callee != nil {
		_, bindings := functionOf(common.Value)
		return callee, bindings
	}
	if load, ok := common.Value.(*ssa.UnOp); ok {
		if variable, ok := load.X.(*ssa.Alloc); ok {
			return functionOf(variable)
		}
	}
	if fn, _ := functionOf(f.setOnce(common.Value)); fn != nil {
		return fn, nil
	}
	fn, _ := functionOf(returned(common.Value))
	return fn, nil
}

// functionOf returns the function that a value is, and its captured variables.
func functionOf(v ssa.Value) (*ssa.Function, []ssa.Value) {
	for {
		switch from := v.(type) {
		case *ssa.Function:
			return from, nil
		case *ssa.MakeClosure:
			return from.Fn.(*ssa.Function), from.Bindings
		case *ssa.ChangeType, *ssa.MakeInterface:
			v = operand(v)
		case *ssa.Alloc:
			if v = storedOnce(from); v == nil {
				return nil, nil
			}
		default:
			return nil, nil
		}
	}
}

// storedOnce returns what a captured variable is set to, if its function sets it in one
// place and no closure does.
func storedOnce(variable *ssa.Alloc) (v ssa.Value) {
	for _, use := range *variable.Referrers() {
		switch use := use.(type) {
		case *ssa.Store:
			if use.Addr != variable || v != nil {
				return nil
			}
			v = use.Val
		case *ssa.MakeClosure:
			for i, captured := range use.Bindings {
				if captured == variable && isSet(use.Fn.(*ssa.Function).FreeVars[i]) {
					return nil
				}
			}
		}
	}
	return v
}

// isSet reports whether a closure sets a captured variable, or may pass on its address.
func isSet(v *ssa.FreeVar) bool {
	return slices.ContainsFunc(*v.Referrers(), func(use ssa.Instruction) bool { _, ok := use.(*ssa.UnOp); return !ok })
}

// returned returns the closure that a call of a function of the program returns, if it
// returns one. Its captured variables are that function's.
func returned(v ssa.Value) (closure ssa.Value) {
	call, ok := v.(*ssa.Call)
	if !ok || call.Call.StaticCallee() == nil {
		return nil
	}
	for _, b := range call.Call.StaticCallee().Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		if len(ret.Results) != 1 || closure != nil {
			return nil
		}
		closure = ret.Results[0]
	}
	return closure
}
