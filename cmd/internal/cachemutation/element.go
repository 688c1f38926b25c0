package cachemutation

import (
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"

	"golang.org/x/tools/go/ssa"
)

// latest contains the last values that were stored in elements and fields, by their addresses in the
// code.
type latest map[string]element

// element is a value that was stored, and the types of the values that are read on the way to it,
// and its own: a store of one of them may be to the same memory.
type element struct {
	value refs
	types []types.Type
	own   bool // it is a struct that leads to memory of the function alone
}

// nameOf names a value, so that two that are read from the same memory have one name, and
// returns the types of the values that are read.
func nameOf(v ssa.Value) (name string, read []types.Type) {
	switch v := v.(type) {
	case *ssa.UnOp:
		if v.Op == token.MUL {
			name, read = nameOf(v.X)
			return "*" + name, append(read, v.Type())
		}
	case *ssa.FieldAddr:
		name, read = nameOf(v.X)
		return name + "." + strconv.Itoa(v.Field), read
	case *ssa.IndexAddr:
		return nameOfElement(v.X, v.Index)
	case *ssa.Lookup:
		name, read = nameOfElement(v.X, v.Index)
		return "*" + name, append(read, v.Type())
	}
	return v.Name(), nil
}

func nameOfElement(of, index ssa.Value) (name string, read []types.Type) {
	name, read = nameOf(of)
	at := index.Name()
	if load, ok := index.(*ssa.UnOp); ok && load.Op == token.MUL {
		switch load.X.(type) {
		case *ssa.Alloc, *ssa.FreeVar: // a variable of closures
			at, read = "*"+load.X.Name(), append(read, index.Type())
		}
	}
	return name + "[" + at + "]", read
}

// store notes that a value was stored at an address, "" for that of a variable, which is
// followed as memory. Structs may have more memory in them: one is noted if it is the function's
// own, until memory that is not may have been stored in it.
func (l latest) store(name string, read []types.Type, value refs, t types.Type, own bool) {
	maps.DeleteFunc(l, func(_ string, other element) bool {
		switch t.Underlying().(type) {
		case *types.Struct, *types.Array:
			return !own || !other.own
		}
		return other.own && !own || slices.ContainsFunc(other.types, func(of types.Type) bool { return types.Identical(of, t) })
	})
	switch _, isStruct := t.Underlying().(*types.Struct); {
	case name == "":
	case isReference(t):
		l[name] = element{value: value, types: append(read, t)}
	case isStruct && own:
		l[name] = element{types: read, own: true}
	}
}

// at returns the last value that was stored at an address, or in a struct that it is in.
func (l latest) at(address ssa.Value) (last element, ok bool) {
	for {
		name, _ := nameOf(address)
		if last, ok = l[name]; ok {
			return last, true
		}
		field, ok := address.(*ssa.FieldAddr)
		if !ok {
			return element{}, false
		}
		address = field.X
	}
}

// forgetShared forgets the values that a function which is called may replace by copies.
func (l latest) forgetShared() {
	maps.DeleteFunc(l, func(_ string, one element) bool {
		return slices.ContainsFunc(one.value, func(r ref) bool { return r.root.kind != local })
	})
}

// latestAt returns the last values that were stored on all ways to a block.
func (f *frame) latestAt(b *ssa.BasicBlock) latest {
	var known latest
	for _, pred := range b.Preds {
		left, ok := f.latestOut[pred]
		switch {
		case !ok:
		case known == nil:
			known = maps.Clone(left)
		default:
			maps.DeleteFunc(known, func(name string, _ element) bool { _, ok := left[name]; return !ok })
			for name, one := range known {
				known[name] = element{one.value.always().add(left[name].value.always()...), one.types, one.own}
			}
		}
	}
	if known == nil {
		known = latest{}
	}
	return known
}
