package cachemutation

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A root is where memory comes from: a parameter or captured variable, a cache, or an
// instruction of the function, which made it.
type root struct {
	kind  rootKind
	index int // of a parameter; captured variables come after parameters

	// Of caches: the description and the position of the read.
	from string
	pos  token.Pos
	// asserted is set for stores, which may hold anything: it is the root of objects that
	// turned out to be API objects.
	asserted *root
	// sequence is set if the value is a function that yields objects of the cache.
	sequence bool
	// element is the type of the object, if it is known.
	element types.Type
}

// as returns the path element of memory that an interface holds if it is of a type.
func as(t types.Type) string {
	return "(" + strings.ReplaceAll(types.TypeString(t, nil), ".", "·") + ")"
}

// isAs reports whether a path element is one that as returned.
func isAs(elem string) bool { return strings.HasPrefix(elem, "(") }

// asserted returns the places if what they are is of the type that elem, the result of as,
// has. Of parameters that may be of any type, callers know.
func (r refs) asserted(elem string) (out refs) {
	for _, one := range r {
		switch {
		case one.path != "" || one.root.kind == local:
			out = out.add(one)
		case isConcrete(one.root.element):
			if as(one.root.element) == elem {
				out = out.add(one)
			}
		case one.root.kind == param:
			out = out.add(ref{place{one.root, elem}, one.when})
		default:
			out = out.add(one)
		}
	}
	return out
}

// isConcrete reports whether a type is known, and neither an interface nor a parameter.
func isConcrete(t types.Type) bool {
	if t == nil {
		return false
	}
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return false
	}
	return !types.IsInterface(t)
}

type rootKind uint8

const (
	local rootKind = iota
	param
	cached
)

// A place is memory that is reached from a root by a path of fields, "[]" for elements
// and "*" for what a reference points to. Of a value that is a reference, a place is what
// it points to; of a struct, the memory it was copied from.
type place struct {
	root *root
	path string
}

const (
	longest = 10  // elements of a path
	below   = "…" // stands for all that is deeper
)

func join(path, elem string) string {
	switch {
	case elem == "":
		return path
	case path == "":
		return elem
	case strings.HasSuffix(path, below):
		return path
	case strings.Count(path, ".")+1 >= longest:
		return path + "." + below
	}
	return path + "." + elem
}

func joinAll(path, rest string) string {
	if rest == "" {
		return path
	}
	for elem := range strings.SplitSeq(rest, ".") {
		path = join(path, elem)
	}
	return path
}

// after returns the part of path below prefix, which is one of its beginnings.
func after(path, prefix string) (rest string, ok bool) {
	switch {
	case path == prefix:
		return "", true
	case prefix == "":
		return path, true
	}
	return strings.CutPrefix(path, prefix+".")
}

// shown returns a path as a reader would write it.
func shown(path string) string {
	var b strings.Builder
	for elem := range strings.SplitSeq(path, ".") {
		if isAs(elem) {
			continue
		}
		switch elem {
		case "", "*", below, "ObjectMeta", "TypeMeta":
		case "[]":
			b.WriteString("[…]")
		default:
			b.WriteString("." + elem)
		}
	}
	return b.String()
}

// A cond is a condition that held when a value was chosen, the block that sets or tests it, and
// its value as the code has it, before describe may have turned it around.
type cond struct {
	key    string
	want   bool
	by     *ssa.BasicBlock
	tested ssa.Value
}

// A ref is one of the places of a value, and under which conditions.
type ref struct {
	place
	when []cond
}

type refs []ref

const most = 24 // places of one value

// add returns the union.
func (r refs) add(more ...ref) refs {
	for _, m := range more {
		i := slices.IndexFunc(r, func(have ref) bool { return have.place == m.place })
		switch {
		case i < 0 && len(r) < most:
			r = append(slices.Clip(r), m)
		case i >= 0 && len(r[i].when) > 0:
			kept := slices.DeleteFunc(slices.Clone(r[i].when), func(c cond) bool { return !slices.Contains(m.when, c) })
			if len(kept) < len(r[i].when) {
				r = slices.Clone(r)
				r[i].when = kept
			}
		}
	}
	return r
}

func (r refs) under(conds []cond) refs {
	if len(conds) == 0 {
		return r
	}
	out := make(refs, len(r))
	for i, one := range r {
		out[i] = ref{one.place, slices.Concat(one.when, conds)}
	}
	return out
}

// always returns the places without conditions.
func (r refs) always() refs {
	out := make(refs, len(r))
	for i, one := range r {
		out[i] = ref{place: one.place}
	}
	return out
}

// field returns the places of a part of each.
func (r refs) field(elem string) refs {
	var out refs
	for _, one := range r {
		out = out.add(ref{place{one.root, join(one.path, elem)}, one.when})
	}
	return out
}

func (r refs) equal(other refs) bool {
	return slices.EqualFunc(r, other, func(a, b ref) bool {
		return a.place == b.place && slices.Equal(a.when, b.when)
	})
}

// isAny reports whether a type is an interface without methods.
func isAny(t types.Type) bool {
	iface, ok := t.Underlying().(*types.Interface)
	return ok && iface.NumMethods() == 0
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// isReference reports whether a value of the type refers to memory, instead of having it.
func isReference(t types.Type) bool {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return true
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Interface, *types.Signature, *types.Chan:
		return true
	}
	return false
}

// holdsReferences reports whether a value of the type can lead to memory.
func holdsReferences(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Array:
		return holdsReferences(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if holdsReferences(f.Type()) {
				return true
			}
		}
		return false
	}
	return true
}
