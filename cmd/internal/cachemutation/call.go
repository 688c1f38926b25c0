package cachemutation

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/kubetyped/informer/cmd/internal/kube"
)

// call interprets a call, including those of go and defer statements.
func (f *frame) call(i ssa.CallInstruction) {
	common := i.Common()
	if b, ok := common.Value.(*ssa.Builtin); ok {
		f.builtin(b.Name(), i)
		return
	}
	f.latest.forgetShared()
	obj := calledObject(common)
	args := common.Args
	if common.IsInvoke() {
		args = append([]ssa.Value{common.Value}, args...)
	}
	value := i.Value()
	if f.read(obj, args, i) {
		f.callbacks(nil, args, i)
		return
	}
	if obj != nil && strings.HasPrefix(obj.Name(), "DeepCopy") {
		f.deepCopied(obj, args, i.Pos())
		return
	}
	if sum, ok := f.known(obj, args); ok {
		f.apply(sum, f.binder(args, nil), i, obj.Name())
		f.returns(sum, f.binder(args, nil), value)
		f.callbacks(sum, args, i)
		return
	}
	callee, sum, bindings := f.called(common)
	sum = sum.with(args)
	if callee != nil && sum == nil {
		sum = f.setter(obj)
	}
	bind := f.binder(args, bindings)
	if sum != nil {
		f.applyTo(callee, sum, bind, i)
		f.returns(sum, bind, value)
	}
	if obj == nil {
		f.callsParameter(common, i)
	}
	if obj == nil && sum == nil {
		for _, arg := range args {
			f.unknown(f.values[arg])
		}
	}
	f.callbacks(sum, slices.Concat(args, bindings), i)
}

// calledObject returns the function or method that a call names, or nil.
func calledObject(common *ssa.CallCommon) *types.Func {
	if common.IsInvoke() {
		return common.Method.Origin()
	}
	if callee := common.StaticCallee(); callee != nil {
		if origin := callee.Origin(); origin != nil {
			callee = origin
		}
		if obj, ok := callee.Object().(*types.Func); ok {
			return obj.Origin()
		}
	}
	return nil
}

// called returns the function of a call, if it is known, its summary, and its captured
// variables.
func (f *frame) called(common *ssa.CallCommon) (*ssa.Function, *Summary, []ssa.Value) {
	if common.IsInvoke() {
		t := concrete(common.Value)
		if t == nil {
			t = concrete(f.setOnce(common.Value))
		}
		if t != nil {
			if fn := f.ssa.LookupMethod(t, common.Method.Pkg(), common.Method.Name()); fn != nil {
				return fn, f.summaryOf(fn), nil
			}
		}
		return nil, f.ofInterface(common.Method), nil
	}
	callee, bindings := f.callee(common)
	if callee == nil {
		return nil, nil, nil
	}
	return callee, f.summaryOf(callee), bindings
}

// concrete returns the type of the value in an interface, if the function shows it.
func concrete(v ssa.Value) types.Type {
	for {
		switch from := v.(type) {
		case *ssa.ChangeInterface:
			v = from.X
		case *ssa.MakeInterface:
			return from.X.Type()
		default:
			return nil
		}
	}
}

// binder returns the places of parameters and captured variables at a call.
func (f *frame) binder(args, bindings []ssa.Value) func(int) refs {
	return func(i int) refs {
		switch {
		case i < len(args):
			return f.values[args[i]]
		case i-len(args) < len(bindings):
			return f.values[bindings[i-len(args)]]
		}
		return nil
	}
}

// applyTo applies the writes of a function. Those of a closure stand in the closure.
func (f *frame) applyTo(callee *ssa.Function, sum *Summary, bind func(int) refs, i ssa.CallInstruction) {
	if callee != nil && within(callee, f.fn) {
		var own refs
		for _, w := range sum.Writes {
			own = own.add(f.writeOf(sum, w, bind, w.pos, w.Steps)...)
		}
		f.replaced(own)
		return
	}
	name := "a function"
	if obj := calledObject(i.Common()); obj != nil {
		name = obj.Name()
		if recv := kube.ReceiverName(obj); recv != "" {
			name = recv + "." + name
		}
	}
	f.apply(sum, bind, i, name)
}

func within(fn, outer *ssa.Function) bool {
	for parent := fn.Parent(); parent != nil; parent = parent.Parent() {
		if parent == outer {
			return true
		}
	}
	return false
}

// apply applies the writes of a function to the arguments of a call.
func (f *frame) apply(sum *Summary, bind func(int) refs, i ssa.CallInstruction, name string) {
	var own refs
	for _, w := range sum.Writes {
		steps := append([]Step{{f.text("passed to "+name, "", i.Pos()), i.Pos()}}, w.Steps...)
		own = own.add(f.writeOf(sum, w, bind, i.Pos(), steps[:min(len(steps), 8)])...)
	}
	f.replaced(own)
}

// replaced forgets the content of places that a function has written to.
func (f *frame) replaced(all refs) {
	for _, one := range all {
		f.mem.store(one.place, content{}, true)
	}
}

// writeOf records a write of a summary, and returns what it replaces. A reference is not
// replaced on all paths if what it refers to is written to, too.
func (f *frame) writeOf(sum *Summary, w Write, bind func(int) refs, pos token.Pos, steps []Step) refs {
	replaced := f.writeThrough(bind(w.Param), w.Path, pos, steps)
	if slices.ContainsFunc(sum.Writes, func(other Write) bool {
		return other.Param == w.Param && strings.HasPrefix(other.Path, w.Path+".*.")
	}) {
		return nil
	}
	return replaced
}

// writeThrough records a write to what a path leads to from values, and returns the places
// whose content is not known after it.
func (f *frame) writeThrough(to refs, path string, pos token.Pos, steps []Step) (replaced refs) {
	for _, one := range to {
		if strings.HasPrefix(path, "ObjectMeta.") && one.root.kind == local {
			f.writeUnstructured(one.place, pos, steps)
		}
		for _, at := range f.mem.walk(one, path) {
			if at.root.kind != local {
				f.write(at, pos, steps)
			}
			if !strings.Contains("."+at.path+".", ".[].") && !strings.HasSuffix(at.path, below) {
				replaced = replaced.add(at)
			}
		}
	}
	return replaced
}

// writeUnstructured records a write to the metadata of memory that is an Unstructured, which
// has it in its map.
func (f *frame) writeUnstructured(of place, pos token.Pos, steps []Step) {
	c, rest, ok := f.mem.find(place{of.root, join(of.path, "Object")})
	if !ok || rest != "" || !c.reference {
		return
	}
	for _, content := range c.refs.field("[]") {
		if content.root.kind != local {
			f.write(content, pos, steps)
		}
	}
}

// returns gives the results of a call their places.
func (f *frame) returns(sum *Summary, bind func(int) refs, v *ssa.Call) {
	if v == nil {
		return
	}
	made := map[int]*root{}
	for _, r := range sum.Results {
		from := f.origin(r, bind, v)
		if r.Own || r.Index >= captured || len(from) == 0 {
			continue
		}
		if !r.Cell {
			f.result(v, r.Index, from.under(conditionsOf(r.Flags, v)))
			continue
		}
		if made[r.Index] == nil {
			made[r.Index] = f.fresh(v, "result "+string(rune('0'+r.Index)))
			f.result(v, r.Index, refs{{place: place{made[r.Index], ""}}})
		}
		f.put(v, made[r.Index], r, from)
	}
	f.replaceOwn(sum, made)
}

// origin returns the memory that a part of a result is.
func (f *frame) origin(r Result, bind func(int) refs, v *ssa.Call) refs {
	if r.Param >= 0 {
		var from refs
		for _, one := range bind(r.Param) {
			from = from.add(f.mem.walk(one, r.From)...)
		}
		return from
	}
	part := r.Cache
	if r.Sequence {
		part = "sequence " + part
	}
	cache := f.cachedRoot(v, part, r.Cache, v.Pos(), nil)
	if cache.sequence = r.Sequence; r.Store {
		cache.asserted = f.cachedRoot(v, "asserted "+part, r.Cache, v.Pos(), nil)
	}
	return refs{{place: place{cache, r.From}}}
}

// put stores a part of a result, making the memory on the way.
func (f *frame) put(v *ssa.Call, in *root, r Result, from refs) {
	path := r.Path
	for done := ""; ; {
		head, rest, deeper := strings.Cut(path, "*")
		head = strings.Trim(head, ".")
		if !deeper {
			f.mem.store(place{in, head}, content{from, r.Reference}, false)
			return
		}
		done = joinAll(done, joinAll(head, "*"))
		next := f.root(v, "result "+string(rune('0'+r.Index))+" "+done)
		f.mem.store(place{in, head}, content{refs{{place: place{next, ""}}}, true}, false)
		in, path = next, strings.Trim(rest, ".")
	}
}

// callsParameter records the call of a function that the caller passed.
func (f *frame) callsParameter(common *ssa.CallCommon, i ssa.CallInstruction) {
	for _, fn := range f.values[common.Value] {
		if fn.root.sequence {
			for _, arg := range common.Args {
				f.callback(arg, func(int) refs { return refs{{place: place{fn.root.asserted, ""}}} }, i)
			}
		}
		if fn.root.kind != param || fn.path != "" && fn.path != "*" {
			continue
		}
		for n, arg := range common.Args {
			for _, one := range f.values[arg] {
				switch one.root.kind {
				case param:
					f.summary.addCall(Call{Func: fn.root.index, Arg: n, Param: one.root.index, From: one.path})
				case cached:
					f.summary.addCall(Call{Func: fn.root.index, Arg: n, Param: -1, From: one.path, Cache: one.root.from})
				}
			}
		}
	}
}

// callbacks applies the functions among the arguments of a call, which are called with
// what the summary has of it.
func (f *frame) callbacks(sum *Summary, args []ssa.Value, i ssa.CallInstruction) {
	for n, arg := range args {
		f.callback(arg, func(param int) (from refs) {
			if sum == nil {
				return nil
			}
			for _, c := range sum.Calls {
				if c.Func != n || c.Arg != param {
					continue
				}
				if c.Param < 0 {
					from = from.add(ref{place: place{f.cachedRoot(i, c.Cache, c.Cache, i.Pos(), nil), c.From}})
					continue
				}
				if c.Param < len(args) {
					for _, one := range f.values[args[c.Param]] {
						from = from.add(f.mem.walk(one, c.From)...)
					}
				}
			}
			return from
		}, i)
	}
}

// callback applies the writes of a function value, whose parameters are given by bind.
func (f *frame) callback(v ssa.Value, bind func(int) refs, i ssa.CallInstruction) {
	fn, bindings := functionOf(v)
	if fn == nil {
		return
	}
	sum := f.summaryOf(fn)
	if sum.empty() {
		return
	}
	all := func(n int) refs {
		if n >= len(fn.Params) {
			if n -= len(fn.Params); n < len(bindings) {
				return f.values[bindings[n]]
			}
			return nil
		}
		return bind(n)
	}
	left := f.leftIn(fn, sum, all, i.Value())
	f.applyTo(fn, sum, all, i)
	for variable, c := range left {
		f.mem.store(variable, c, true)
	}
}

func (f *frame) builtin(name string, i ssa.CallInstruction) {
	args := i.Common().Args
	switch name {
	case "append":
		f.writeElements(f.overwritten(args[0], map[ssa.Value]bool{}), i.Pos())
		f.appended(args, i.Value())
	case "copy":
		t := elementOf(args[0].Type())
		f.store(f.values[args[0]].field("[]"), f.load(f.values[args[1]].field("[]"), t, i), t, i.Pos())
	case "delete", "clear":
		f.writeElements(f.values[args[0]], i.Pos())
	}
}

// writeElements records a write to the elements of slices or maps that are not the function's own.
func (f *frame) writeElements(of refs, pos token.Pos) {
	for _, one := range of.field("[]") {
		if one.root.kind != local {
			f.write(one, pos, nil)
		}
	}
}

// appended is new memory that has the elements of both slices: whether it is that of the
// first one depends on its capacity.
func (f *frame) appended(args []ssa.Value, v *ssa.Call) {
	if v == nil || len(args) < 2 {
		return
	}
	t := elementOf(v.Type())
	r := f.root(v, "")
	var elements refs
	for _, arg := range args {
		elements = elements.add(f.load(f.values[arg].field("[]"), t, v)...)
	}
	if holdsReferences(t) {
		f.mem.store(place{r, "[]"}, content{elements, isReference(t)}, false)
	}
	f.set(v, refs{{place: place{r, ""}}})
}

// deepCopied handles methods DeepCopy…: results are new; the target of DeepCopyInto is
// written to as a whole.
func (f *frame) deepCopied(obj *types.Func, args []ssa.Value, pos token.Pos) {
	if obj.Name() != "DeepCopyInto" || len(args) != 2 {
		return
	}
	for _, one := range f.values[args[1]] {
		if one.root.kind == local {
			f.mem.store(one.place, content{}, len(f.values[args[1]]) == 1)
		} else {
			f.write(one, pos, nil)
		}
	}
}
