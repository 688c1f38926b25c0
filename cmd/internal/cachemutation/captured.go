package cachemutation

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// captured is the index of the first captured variable among the results of a closure: what
// it has left in a variable counts as a result.
const captured = 1 << 10

// addCaptured adds what a closure leaves in captured variables to its results.
func (f *frame) addCaptured() {
	for _, b := range f.fn.Blocks {
		if _, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); !ok || f.out[b] == nil || f.hasFailed(b) {
			continue
		}
		f.block, f.mem = b, f.out[b]
		for i, v := range f.fn.FreeVars {
			variable := f.values[v][0].place
			left, index := f.mem[variable], captured+len(f.fn.Params)+i
			for _, one := range left.refs {
				switch {
				case one.root.kind == local:
					f.returnedParts(index, one, "", 0)
				case one.root != variable.root:
					r := f.resultFrom(index, one)
					r.Reference = left.reference
					f.summary.addResult(r)
				}
			}
		}
	}
}

// hasFailed reports whether a block runs only if an error is not nil: the object returned with it is not used.
func (f *frame) hasFailed(b *ssa.BasicBlock) bool {
	return slices.ContainsFunc(f.conditions(b), func(c cond) bool { return !c.want && strings.HasSuffix(c.key, "==nil:error") })
}

// leftIn returns what the variables of a function contain after a closure was called once, or not
// at all: those in which it leaves something.
func (f *frame) leftIn(fn *ssa.Function, sum *Summary, bind func(int) refs, v *ssa.Call) map[place]content {
	left := map[place]content{}
	for _, r := range sum.Results {
		n := r.Index - captured - len(fn.Params)
		if n < 0 || v == nil {
			continue
		}
		to, from := bind(r.Index-captured), f.origin(r, bind, v)
		if len(to) != 1 {
			continue
		}
		variable := to[0].place
		c, ok := left[variable]
		if !ok {
			c.reference = isReference(pointee(fn.FreeVars[n].Type()))
			c.refs = f.mem.loadAs(variable, c.reference, 0)
		}
		if r.Cell && len(from) > 0 {
			made := f.root(v, fmt.Sprint("captured ", r.Index))
			f.put(v, made, r, from)
			from = refs{{place: place{made, ""}}}
		}
		c.refs = c.refs.add(from...)
		left[variable] = c
	}
	return left
}

// pointee returns the type of a captured variable, whose address has a type.
func pointee(address types.Type) types.Type {
	if p, ok := address.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return address
}
