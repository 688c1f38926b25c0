package cachemutation

import (
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/kubetyped/informer/cmd/internal/kube"
)

// frame analyses one function.
type frame struct {
	*program
	fn      *ssa.Function
	values  map[ssa.Value]refs
	results map[ssa.Value]map[int]refs // of calls and others with several results
	roots   map[rootKey]*root
	mem     memory
	block   *ssa.BasicBlock
	out     map[*ssa.BasicBlock]memory
	conds   map[*ssa.BasicBlock][]cond
	// The last values that were stored in this block, and in others at their ends.
	latest    latest
	latestOut map[*ssa.BasicBlock]latest
	summary   *Summary
	changed   bool
}

// rootKey is the place in the code that makes memory, and which of its parts.
type rootKey struct {
	of   any
	part string
}

// analyse computes the summary of a function with a body, and reports its findings.
func (p *program) analyse(fn *ssa.Function) *Summary {
	f := &frame{
		program: p, fn: fn,
		values: map[ssa.Value]refs{}, results: map[ssa.Value]map[int]refs{},
		roots: map[rootKey]*root{}, out: map[*ssa.BasicBlock]memory{},
		conds: map[*ssa.BasicBlock][]cond{}, summary: &Summary{},
		latestOut: map[*ssa.BasicBlock]latest{},
	}
	f.enter()
	order := fn.DomPreorder()
	for range 8 {
		f.changed = false
		for _, b := range order {
			f.run(b)
		}
		if !f.changed {
			break
		}
	}
	f.addOwn()
	f.addCaptured()
	f.summary.sort()
	return f.summary
}

// enter gives parameters and captured variables their places.
func (f *frame) enter() {
	for i, v := range f.fn.Params {
		if !holdsReferences(v.Type()) {
			continue
		}
		if from, ok := f.handed[f.fn][i]; ok {
			r := f.cachedRoot(v, "", from, v.Pos(), v.Type())
			if f.handedAny[f.fn] {
				r.asserted = f.cachedRoot(v, "asserted", from, v.Pos(), nil)
			}
			f.values[v] = refs{{place: place{r, ""}}}
			continue
		}
		r := f.root(v, "")
		r.kind, r.index, r.element = param, i, v.Type()
		f.values[v] = refs{{place: place{r, ""}}}
	}
	for i, v := range f.fn.FreeVars {
		r := f.root(v, "")
		r.kind, r.index = param, len(f.fn.Params)+i
		f.values[v] = refs{{place: place{r, ""}}}
	}
}

// root returns the memory that an instruction makes.
func (f *frame) root(of any, part string) *root {
	key := rootKey{of, part}
	if f.roots[key] == nil {
		f.roots[key] = &root{}
	}
	return f.roots[key]
}

func (f *frame) cachedRoot(of any, part, from string, pos token.Pos, t types.Type) *root {
	r := f.root(of, "cache "+part)
	r.kind, r.from, r.pos, r.element = cached, from, pos, t
	return r
}

func (f *frame) run(b *ssa.BasicBlock) {
	f.block, f.mem = b, memory{}
	first := true
	for _, pred := range b.Preds {
		left, ok := f.leaving(pred, b)
		switch {
		case !ok:
		case first:
			f.mem, first = left, false
		default:
			f.mem.merge(left)
		}
	}
	f.latest = f.latestAt(b)
	for _, instr := range b.Instrs {
		f.step(instr)
	}
	f.changed = f.changed || len(f.latest) != len(f.latestOut[b])
	f.latestOut[b] = f.latest
	before, ok := f.out[b]
	if !ok {
		f.out[b], f.changed = f.mem, true
	} else if f.mem.merge(before) || len(f.mem) != len(before) || !sameMemory(f.mem, before) {
		f.out[b], f.changed = f.mem, true
	}
}

func sameMemory(a, b memory) bool {
	return maps.EqualFunc(a, b, func(x, y content) bool { return x.reference == y.reference && x.refs.equal(y.refs) })
}

func (f *frame) set(v ssa.Value, r refs) {
	if len(r) == 0 && len(f.values[v]) == 0 {
		return
	}
	union := f.values[v].add(r...)
	if !union.equal(f.values[v]) {
		f.values[v] = union
		f.changed = true
	}
}

// result adds places to one of the results of a call or another instruction.
func (f *frame) result(v ssa.Value, i int, r refs) {
	tuple, ok := v.Type().(*types.Tuple)
	if !ok && i == 0 {
		f.set(v, r)
	}
	if !ok || i >= tuple.Len() || len(r) == 0 {
		return
	}
	if f.results[v] == nil {
		f.results[v] = map[int]refs{}
	}
	union := f.results[v][i].add(r...)
	if !union.equal(f.results[v][i]) {
		f.results[v][i] = union
		f.changed = true
	}
}

// load reads from each of the places.
func (f *frame) load(from refs, t types.Type, at ssa.Instruction) refs {
	if !holdsReferences(t) {
		return nil
	}
	var out refs
	for _, one := range from {
		if one.root.kind == local && !isReference(t) && f.mem.hasParts(one.place) {
			snapshot := f.root(at, "copy of "+one.path)
			if snapshot != one.root {
				f.mem.copyParts(snapshot, one.place)
				out = out.add(ref{place{snapshot, ""}, one.when})
				continue
			}
		}
		out = out.add(f.mem.load(one.place, t).under(one.when)...)
	}
	return out
}

// store writes a value to each of the places.
func (f *frame) store(to, value refs, t types.Type, pos token.Pos) {
	for _, one := range to {
		if one.root.kind != local {
			f.write(one, pos, nil)
		}
		replace := len(to) == 1 && !strings.Contains("."+one.path+".", ".[].")
		if one.root.kind != local && !replace {
			continue
		}
		f.mem.store(one.place, content{value.always(), isReference(t)}, replace)
	}
}

// write records that a place is written to at a position, through the calls of steps.
func (f *frame) write(to ref, pos token.Pos, steps []Step) {
	if f.contradicts(to.when) {
		return
	}
	if len(steps) == 0 {
		steps = []Step{{f.text("written to", to.path, pos), pos}}
	}
	switch to.root.kind {
	case param:
		f.summary.addWrite(Write{Param: to.root.index, Path: to.path, Given: f.given(to.when), Steps: steps, pos: pos})
	case cached:
		if to.root.asserted == nil && !to.root.sequence {
			f.found(finding{root: to.root, path: to.path, pos: pos, steps: steps})
		}
	}
}

func (f *frame) text(verb, path string, pos token.Pos) string {
	at := f.pass.Fset.Position(pos)
	name := at.Filename[strings.LastIndexAny(at.Filename, `/\`)+1:]
	where := fmt.Sprintf("at %s:%d", name, at.Line)
	if path = shown(path); path != "" {
		return fmt.Sprintf("%s is %s %s", path, verb, where)
	}
	return fmt.Sprintf("it is %s %s", verb, where)
}

// contradicts reports whether the block runs only if one of the conditions did not hold.
func (f *frame) contradicts(when []cond) bool {
	if len(when) == 0 {
		return false
	}
	return contradict(when, f.conditions(f.block))
}

// contradict reports whether not all of two sets of conditions can hold at once.
func contradict(when, holds []cond) bool {
	return slices.ContainsFunc(when, func(c cond) bool {
		return slices.ContainsFunc(holds, func(h cond) bool { return h.key == c.key && h.want != c.want })
	})
}

// conditions returns those that hold whenever a block runs.
func (f *frame) conditions(b *ssa.BasicBlock) []cond {
	if known, ok := f.conds[b]; ok {
		return known
	}
	f.conds[b] = nil
	if d := b.Idom(); d != nil {
		all := slices.Clone(f.conditions(d))
		if len(b.Preds) == 1 && b.Preds[0] == d {
			all = append(all, edge(d, b)...)
		}
		f.conds[b] = slices.Clip(all)
	}
	return f.conds[b]
}

// edge returns the condition under which one block follows another.
func edge(from, to *ssa.BasicBlock) []cond {
	branch, ok := from.Instrs[len(from.Instrs)-1].(*ssa.If)
	if !ok || from.Succs[0] == from.Succs[1] {
		return nil
	}
	key, want := describe(branch.Cond, from.Succs[0] == to)
	return []cond{{key, want, from, branch.Cond}}
}

// describe names a condition, so that two that compare the same values have one name.
func describe(v ssa.Value, want bool) (string, bool) {
	switch v := v.(type) {
	case *ssa.UnOp:
		if v.Op == token.NOT {
			return describe(v.X, !want)
		}
	case *ssa.BinOp:
		if v.Op == token.NEQ {
			return v.X.Name() + "==" + v.Y.Name(), !want
		}
		return v.X.Name() + v.Op.String() + v.Y.Name(), want
	}
	return v.Name(), want
}

// arriving returns a value as it comes over an edge into a block, with the conditions of
// the edge. Conditions that may be tested again before the block runs next, as in a loop,
// say nothing of the value then.
func (f *frame) arriving(v ssa.Value, from, to *ssa.BasicBlock) refs {
	value := f.values[v]
	isNil := func(c cond) bool { return c.want && strings.HasPrefix(c.key, v.Name()+"==nil:") }
	stale := func(c cond) bool { return c.by == to || !c.by.Dominates(to) }
	conds := slices.Concat(f.conditions(from), edge(from, to))
	if slices.ContainsFunc(conds, isNil) || slices.ContainsFunc(conds, func(c cond) bool { return c.isNoObject(v) }) {
		return nil
	}
	var out refs
	for _, one := range value {
		if !contradict(one.when, conds) {
			when := slices.Concat(one.when, conds)
			out = append(out, ref{one.place, append(slices.DeleteFunc(slices.Clone(when), stale), chosen(when, from, to)...)})
		}
	}
	return out
}

// chosen returns which flags a block chooses over an edge together with a value: those that are
// constants, or that conditions of the value know.
func chosen(when []cond, from, to *ssa.BasicBlock) (all []cond) {
	edge := slices.Index(to.Preds, from)
	for _, instr := range to.Instrs {
		flag, ok := instr.(*ssa.Phi)
		if !ok {
			break
		}
		if want, ok := flagOf(flag.Edges[edge], when); ok {
			all = append(all, cond{flag.Name(), want, to, flag})
		}
	}
	return all
}

// flagOf returns whether a flag is set, if it is a constant, or conditions know it.
func flagOf(v ssa.Value, when []cond) (set, known bool) {
	if c, ok := v.(*ssa.Const); ok {
		text := constant(c)
		return text == "true", text == "true" || text == "false"
	}
	key, want := describe(v, true)
	i := slices.IndexFunc(when, func(c cond) bool { return c.key == key })
	return i >= 0 && when[i].want == want, i >= 0
}

// isNoObject reports whether a condition is that a value is not of an interface that all API
// objects implement.
func (c cond) isNoObject(v ssa.Value) bool {
	ok, isExtract := c.tested.(*ssa.Extract)
	if c.want || !isExtract {
		return false
	}
	assert, isAssert := ok.Tuple.(*ssa.TypeAssert)
	return isAssert && assert.X == v && types.IsInterface(assert.AssertedType) &&
		(kube.IsObject(assert.AssertedType) || kube.IsType(assert.AssertedType, kube.Runtime, "Object"))
}
