package cachemutation

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/kubetyped/informer/cmd/internal/kube"
)

// step interprets one instruction.
func (f *frame) step(instr ssa.Instruction) {
	switch i := instr.(type) {
	case *ssa.Store:
		f.store(f.values[i.Addr], f.values[i.Val], i.Val.Type(), i.Pos())
		name, read := "", []types.Type(nil)
		switch i.Addr.(type) {
		case *ssa.IndexAddr, *ssa.FieldAddr:
			name, read = nameOf(i.Addr)
		}
		f.latest.store(name, read, f.values[i.Val], i.Val.Type(), f.mem.owns(f.values[i.Val]))
	case *ssa.MapUpdate:
		f.store(f.values[i.Map].field("[]"), f.values[i.Value], i.Value.Type(), i.Pos())
		name, read := nameOfElement(i.Map, i.Key)
		f.latest.store(name, read, f.values[i.Value], i.Value.Type(), f.mem.owns(f.values[i.Value]))
	case *ssa.Return:
		for n := range i.Results {
			f.returned(i, n)
		}
	case ssa.CallInstruction:
		f.call(i)
	case ssa.Value:
		f.compute(i)
	}
}

// compute interprets an instruction that has a value and calls nothing.
func (f *frame) compute(v ssa.Value) {
	switch v := v.(type) {
	case *ssa.Alloc:
		if !becomesUnsafe(v) {
			f.make(v)
		}
	case *ssa.MakeMap, *ssa.MakeSlice:
		f.make(v)
	case *ssa.FieldAddr:
		f.set(v, f.values[v.X].field(fieldName(v.X.Type(), v.Field)))
	case *ssa.IndexAddr:
		f.set(v, f.values[v.X].field("[]"))
	case *ssa.Field:
		f.set(v, f.load(f.values[v.X].field(fieldName(v.X.Type(), v.Field)), v.Type(), v))
	case *ssa.Index:
		f.set(v, f.load(f.values[v.X].field("[]"), v.Type(), v))
	case *ssa.Lookup:
		f.lookup(v)
	case *ssa.UnOp:
		if v.Op == token.MUL {
			f.loaded(v)
		}
	case *ssa.Phi:
		f.phi(v)
	case *ssa.TypeAssert:
		f.assert(v)
	case *ssa.Next:
		f.next(v)
	case *ssa.Extract:
		f.set(v, f.results[v.Tuple][v.Index])
	default:
		f.convert(v)
	}
}

// convert passes on values whose memory is that of another. A slice of length 0 has no elements
// of it.
func (f *frame) convert(v ssa.Value) {
	if s, ok := v.(*ssa.Slice); ok && isZero(s.High) {
		f.make(v)
		return
	}
	switch v.(type) {
	case *ssa.ChangeType, *ssa.ChangeInterface, *ssa.MakeInterface, *ssa.Convert, *ssa.MultiConvert, *ssa.SliceToArrayPointer, *ssa.Slice:
		if holdsReferences(v.Type()) {
			f.set(v, f.values[operand(v)])
		}
	}
}

func isZero(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil && c.Int64() == 0
}

// operand returns the first operand of an instruction, which is what it converts.
func operand(v ssa.Value) ssa.Value { return *v.(ssa.Instruction).Operands(nil)[0] }

// becomesUnsafe reports whether memory is written to in ways that are not seen.
func becomesUnsafe(v *ssa.Alloc) bool {
	for _, use := range *v.Referrers() {
		convert, ok := use.(*ssa.Convert)
		if !ok {
			continue
		}
		if b, ok := convert.Type().Underlying().(*types.Basic); ok && b.Kind() == types.UnsafePointer {
			return true
		}
	}
	return false
}

// unknown forgets the content of memory that code which is not seen may replace.
func (f *frame) unknown(to refs) {
	for _, one := range to {
		if one.root.kind == local {
			f.mem.store(one.place, content{}, true)
		}
	}
}

// make is memory that is made by an instruction each time that it runs.
func (f *frame) make(v ssa.Value) {
	f.set(v, refs{{place: place{f.fresh(v, ""), ""}}})
}

// loaded reads from memory. An element that was stored just before is what was stored.
func (f *frame) loaded(v *ssa.UnOp) {
	if len(f.latest) > 0 {
		if last, ok := f.latest.at(v.X); ok {
			f.set(v, last.value)
			return
		}
	}
	f.set(v, f.load(f.values[v.X], v.Type(), v))
}

func (f *frame) lookup(v *ssa.Lookup) {
	t := v.Type()
	name, _ := nameOfElement(v.X, v.Index)
	if last, ok := f.latest[name]; ok && !v.CommaOk {
		f.set(v, last.value)
		return
	}
	if tuple, ok := t.(*types.Tuple); ok {
		t = tuple.At(0).Type()
	}
	f.result(v, 0, f.load(f.values[v.X].field("[]"), t, v))
}

func (f *frame) next(v *ssa.Next) {
	if v.IsString {
		return
	}
	ranged, ok := v.Iter.(*ssa.Range)
	if !ok {
		return
	}
	if m, ok := ranged.X.Type().Underlying().(*types.Map); ok {
		f.result(v, 2, f.load(f.values[ranged.X].field("[]"), m.Elem(), v))
	}
}

func (f *frame) phi(v *ssa.Phi) {
	if !holdsReferences(v.Type()) {
		return
	}
	var union refs
	for n, from := range v.Edges {
		union = union.add(f.arriving(from, v.Block().Preds[n], v.Block())...)
	}
	f.set(v, union)
}

// assert passes a value on. A store may hold anything: its objects are from a cache
// if it turns out to be an API object.
func (f *frame) assert(v *ssa.TypeAssert) {
	if !holdsReferences(v.AssertedType) {
		return
	}
	var out refs
	for _, one := range f.values[v.X] {
		if kept := one.root.asserted; kept != nil {
			if !kube.IsObject(v.AssertedType) {
				if _, isInterface := v.AssertedType.Underlying().(*types.Interface); isInterface {
					out = out.add(one)
				}
				continue
			}
			one.root = kept
		}
		out = out.add(one)
	}
	if isConcrete(v.AssertedType) {
		out = out.asserted(as(v.AssertedType))
	}
	f.result(v, 0, out)
}

func fieldName(t types.Type, i int) string {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		return s.Field(i).Name()
	}
	if param, ok := types.Unalias(t).(*types.TypeParam); ok {
		if iface, ok := param.Constraint().Underlying().(*types.Interface); ok && iface.NumEmbeddeds() > 0 {
			if s, ok := iface.EmbeddedType(0).Underlying().(*types.Struct); ok {
				return s.Field(i).Name()
			}
		}
	}
	return "?"
}

// returned adds a result of a statement to what the function returns.
func (f *frame) returned(i *ssa.Return, n int) {
	v := i.Results[n]
	if !holdsReferences(v.Type()) {
		return
	}
	for _, one := range f.values[v] {
		if f.contradicts(one.when) {
			continue
		}
		if one.root.kind == local {
			f.returnedParts(n, one, "", 0)
		} else {
			r := f.resultFrom(n, one)
			r.Flags = flagsOf(i.Results, slices.Concat(f.conditions(f.block), one.when))
			f.summary.addResult(r)
		}
	}
}

func (f *frame) resultFrom(n int, p ref) Result {
	r := Result{Index: n, Param: p.root.index, From: p.path, Given: f.given(p.when)}
	if p.root.kind == cached {
		r.Param, r.Cache, r.Store, r.Sequence = -1, p.root.from, p.root.asserted != nil, p.root.sequence
	}
	return r
}

// returnedParts adds the parts of new memory that are those of callers or of a cache.
func (f *frame) returnedParts(n int, p ref, path string, depth int) {
	if depth > 2 {
		return
	}
	for _, q := range f.mem.parts(p.place) {
		c := f.mem[q]
		rest, _ := after(q.path, p.path)
		for _, one := range c.refs {
			at := joinAll(path, rest)
			if one.root.kind == local {
				inner := at // of a copy of a struct
				if c.reference {
					inner = join(at, "*")
				}
				f.returnedParts(n, ref{one.place, p.when}, inner, depth+1)
				continue
			}
			r := f.resultFrom(n, ref{one.place, p.when})
			r.Cell, r.Path, r.Reference = true, at, c.reference
			f.summary.addResult(r)
		}
	}
}
