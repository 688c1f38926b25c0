package cachemutation

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/kubetyped/informer/cmd/internal/kube"
)

// read handles calls that read from a cache, and reports whether it was one.
func (f *frame) read(obj *types.Func, args []ssa.Value, i ssa.CallInstruction) bool {
	switch {
	case obj == nil:
		return false
	case isListerRead(obj, i.Common()):
		f.readResults(obj, i, false)
	case isStoreRead(obj):
		if !f.isPrivate(args[0]) {
			f.readResults(obj, i, true)
		}
	case isTypedRead(obj), kube.IsFunc(obj, kube.Cache, "TypedIndexer.TypedIndex", "TypedIndexer.ByTypedIndex"):
		f.readResults(obj, i, false)
	case f.readsUncopied(obj, args, i), f.collects(obj, args, i):
	default:
		return false
	}
	return true
}

// isListerRead reports whether a method is one of a lister: generated, generic, dynamic
// or of metadata.
func isListerRead(obj *types.Func, common *ssa.CallCommon) bool {
	recv := kube.ReceiverName(obj)
	inListers := strings.Contains(kube.PackagePath(obj.Pkg()), "lister")
	if !strings.HasSuffix(recv, "Lister") && !(recv == "ResourceIndexer" && inListers) || !common.IsInvoke() && !inListers {
		return false
	}
	if !strings.HasPrefix(obj.Name(), "Get") && !strings.HasPrefix(obj.Name(), "List") && obj.Name() != "ByIndex" {
		return false
	}
	for p := range obj.Signature().Params().Variables() {
		if kube.IsType(p.Type(), "context", "Context") {
			return false
		}
	}
	return true
}

var storeReads = []string{"Get", "GetByKey", "List", "ByIndex", "Index"}

// isStoreRead reports whether a method is one of client-go's Store and Indexer, which may
// hold anything.
func isStoreRead(obj *types.Func) bool {
	return kube.PackagePath(obj.Pkg()) == kube.Cache && slices.Contains(storeReads, obj.Name()) &&
		slices.Contains([]string{"Store", "Indexer"}, kube.ReceiverName(obj))
}

var (
	typedReaders = []string{"index", "lister", "typed", "typed/view", "typed/fleet"}
	typedReads   = []string{"Get", "GetByKeyString", "List", "ListNamespace", "All", "InNamespace", "Candidates", "Chunks", "One", "Intersect",
		"Range", "Backward", "Diff", "Fetch", "Select", "Match"}
)

// isTypedRead reports whether a function is a read of this project's stores. An Indexer
// alone may be the program's own.
func isTypedRead(obj *types.Func) bool {
	path, ok := strings.CutPrefix(kube.PackagePath(obj.Pkg()), kube.Typed+"/")
	return ok && slices.Contains(typedReaders, path) && slices.Contains(typedReads, obj.Name()) && kube.ReceiverName(obj) != "Indexer"
}

// readResults makes the results of a read those of a cache.
func (f *frame) readResults(obj *types.Func, i ssa.CallInstruction, store bool) {
	v := i.Value()
	if v == nil {
		return
	}
	from := readName(obj)
	for n := range i.Common().Signature().Results().Len() {
		t := i.Common().Signature().Results().At(n).Type()
		if !isReference(t) || isError(t) {
			continue
		}
		r := f.cachedRoot(v, "", from, v.Pos(), t)
		if store {
			r.asserted = f.cachedRoot(v, "asserted", from, v.Pos(), nil)
		}
		switch u := t.Underlying().(type) {
		case *types.Slice:
			if holdsObject(u.Elem(), store) {
				r.element = u.Elem()
				list := f.fresh(v, fmt.Sprint("list ", n))
				f.mem.store(place{list, "[]"}, content{refs{{place: place{r, ""}}}, isReference(u.Elem())}, true)
				f.result(v, n, refs{{place: place{list, ""}}})
			}
		case *types.Signature:
			sequence := f.cachedRoot(v, "sequence", from, v.Pos(), t)
			sequence.sequence, sequence.asserted, r.element = true, r, nil
			f.result(v, n, refs{{place: place{sequence, ""}}})
		default:
			if holdsObject(t, store) {
				f.result(v, n, refs{{place: place{r, ""}}})
			}
		}
	}
}

// collects handles functions of package slices that make a slice of the objects that a sequence
// yields, and reports whether it was one.
func (f *frame) collects(obj *types.Func, args []ssa.Value, i ssa.CallInstruction) bool {
	v := i.Value()
	if v == nil || !kube.IsFunc(obj, "slices", "Collect", "Sorted", "SortedFunc", "SortedStableFunc", "AppendSeq") {
		return false
	}
	element := elementOf(v.Type())
	var all refs
	for _, arg := range args {
		for _, one := range f.values[arg] {
			switch {
			case one.root.sequence:
				all = all.add(ref{place{one.root.asserted, ""}, one.when})
			case obj.Name() == "AppendSeq":
				all = all.add(f.load(refs{one}.field("[]"), element, i)...)
			}
		}
	}
	if len(all) > 0 {
		list := f.fresh(v, "collected")
		f.mem.store(place{list, "[]"}, content{all, isReference(element)}, true)
		f.set(v, refs{{place: place{list, ""}}})
	}
	return len(all) > 0
}

// fresh returns memory that an instruction makes, without content.
func (f *frame) fresh(v ssa.Value, part string) *root {
	r := f.root(v, part)
	f.mem.forget(place{r, ""})
	return r
}

// holdsObject reports whether a result of a read is an object, and not an error or a flag.
func holdsObject(t types.Type, store bool) bool {
	if isError(t) || !isReference(t) {
		return false
	}
	return store || !types.IsInterface(t) || kube.IsType(t, kube.Runtime, "Object") || kube.IsObject(t) || isAny(t)
}

func readName(obj *types.Func) string {
	if recv := kube.ReceiverName(obj); recv != "" {
		return recv + "." + obj.Name()
	}
	return obj.Pkg().Name() + "." + obj.Name()
}

// readsUncopied handles Get and List of controller-runtime's clients with the option not
// to copy objects.
func (f *frame) readsUncopied(obj *types.Func, args []ssa.Value, i ssa.CallInstruction) bool {
	get := obj.Name() == "Get" && kube.IsFunc(obj, kube.Client, "Reader.Get", "Client.Get")
	list := obj.Name() == "List" && kube.IsFunc(obj, kube.Client, "Reader.List", "Client.List")
	if !get && !list || !hasOption(args[len(args)-1], "UnsafeDisableDeepCopy") {
		return false
	}
	arg := args[len(args)-2] // before the options
	r := f.cachedRoot(i, "", readName(obj)+" with UnsafeDisableDeepCopy", i.Pos(), nil)
	for _, one := range f.values[arg] {
		if one.root.kind != local {
			continue
		}
		if get {
			f.mem.store(one.place, content{refs{{place: place{r, ""}}}, false}, true)
			continue
		}
		items := f.root(i, "items")
		f.mem.store(place{items, "[]"}, content{refs{{place: place{r, ""}}}, false}, true)
		f.mem.store(place{one.root, join(one.path, "Items")}, content{refs{{place: place{items, ""}}}, true}, true)
	}
	return true
}

// hasOption reports whether the variadic argument of a call has a variable or constant of
// controller-runtime in it.
func hasOption(v ssa.Value, name string) bool {
	slice, ok := v.(*ssa.Slice)
	return ok && slices.ContainsFunc(elements(slice), func(v ssa.Value) bool { return namesGlobal(v, name) })
}

// elements returns the values that are stored in the array of a slice, such as a variadic
// argument.
func elements(slice *ssa.Slice) (all []ssa.Value) {
	if slice.X.Referrers() == nil {
		return nil
	}
	for _, r := range *slice.X.Referrers() {
		address, ok := r.(*ssa.IndexAddr)
		if !ok {
			continue
		}
		for _, use := range *address.Referrers() {
			if s, ok := use.(*ssa.Store); ok && s.Addr == address {
				all = append(all, s.Val)
			}
		}
	}
	return all
}

func namesGlobal(v ssa.Value, name string) bool {
	switch v := v.(type) {
	case *ssa.MakeInterface:
		return namesGlobal(v.X, name) || kube.IsType(v.X.Type(), kube.Client, name+"Option")
	case *ssa.UnOp:
		return namesGlobal(v.X, name)
	case *ssa.Global:
		return v.Name() == name
	}
	return false
}
