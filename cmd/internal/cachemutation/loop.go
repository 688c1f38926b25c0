package cachemutation

import (
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// leaving returns memory as it is when one block follows another. After a loop that replaces
// each element of a slice, the new ones alone are in it.
func (f *frame) leaving(from, to *ssa.BasicBlock) (left memory, ok bool) {
	if left, ok = f.out[from]; !ok {
		return nil, false
	}
	left = maps.Clone(left)
	slice, index := ranged(from)
	if slice == nil || to != from.Succs[1] {
		return left, true
	}
	name, _ := nameOf(slice)
	stores := f.storesIn(from.Succs[0])
	for _, s := range stores {
		address, ok := s.Addr.(*ssa.IndexAddr)
		if !ok || address.Index != index || !f.replacesAll(s, stores, from) {
			continue
		}
		if other, _ := nameOf(address.X); other == name {
			left.store(f.values[address][0].place, content{f.values[s.Val].always(), isReference(s.Val.Type())}, true)
		}
	}
	return left, true
}

// ranged returns the slice and the index of a range statement, if a block is its condition. Of
// a part of a slice, the other elements may be used, too.
func ranged(b *ssa.BasicBlock) (slice, index ssa.Value) {
	branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
	if !ok || b.Comment != "rangeindex.loop" {
		return nil, nil
	}
	less, ok := branch.Cond.(*ssa.BinOp)
	if !ok {
		return nil, nil
	}
	length, ok := less.Y.(*ssa.Call)
	if !ok {
		return nil, nil // of an array
	}
	slice = length.Call.Args[0]
	if part, ok := slice.(*ssa.Slice); ok && (part.Low != nil || part.High != nil) {
		return nil, nil
	}
	return slice, less.X
}

// storesIn returns the stores of a block and of those that only run after it.
func (f *frame) storesIn(block *ssa.BasicBlock) (all []*ssa.Store) {
	for _, b := range block.Dominees() {
		all = append(all, f.storesIn(b)...)
	}
	for _, instr := range block.Instrs {
		if s, ok := instr.(*ssa.Store); ok {
			all = append(all, s)
		}
	}
	return all
}

// replacesAll reports whether a store to an element is run each time in a loop, and the other
// stores neither replace the slice nor leave shared memory in it.
func (f *frame) replacesAll(s *ssa.Store, stores []*ssa.Store, loop *ssa.BasicBlock) bool {
	to := f.values[s.Addr]
	if len(to) != 1 || to[0].root.kind != local || slices.ContainsFunc(loop.Preds, func(pred *ssa.BasicBlock) bool {
		return loop.Dominates(pred) && !s.Block().Dominates(pred)
	}) {
		return false
	}
	whole := s.Addr.(*ssa.IndexAddr).X.Type()
	return !slices.ContainsFunc(stores, func(other *ssa.Store) bool {
		same := slices.ContainsFunc(f.values[other.Addr], func(r ref) bool { return r.root == to[0].root })
		return other != s && same && !f.out[loop].owns(f.values[other.Val]) || types.Identical(other.Val.Type(), whole)
	})
}
