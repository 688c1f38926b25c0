package cachemutation

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/kubetyped/informer/cmd/internal/kube"
)

// handlerTypes are structs whose functions are called with objects of a cache, those of client-go
// also with Typed before their names.
var handlerTypes = map[string][]string{
	kube.Cache:            {"ResourceEventHandlerFuncs", "ResourceEventHandlerDetailedFuncs", "FilteringResourceEventHandler"},
	kube.Typed + "/typed": {"HandlerFuncs"},
}

// callers are functions that call those that are passed to them with objects of a cache.
var callers = map[string][]string{
	kube.Cache: {"ListAll", "ListAllByNamespace"},
	"sigs.k8s.io/controller-runtime/pkg/handler":   {"EnqueueRequestsFromMapFunc", "TypedEnqueueRequestsFromMapFunc"},
	"sigs.k8s.io/controller-runtime/pkg/predicate": {"NewPredicateFuncs", "NewTypedPredicateFuncs"},
	kube.Client:                   {"FieldIndexer.IndexField"},
	kube.Typed + "/index":         {"New", "Single", "NewOrdered"},
	kube.Typed + "/typed/control": {"EnqueueFunc", "EnqueueKey", "Filter"},
	kube.Typed + "/typed/view":    {"Map", "FlatMap", "Filter", "Compute", "One", "Many", "WithEqual", "BySelector"},
	// The name of client.FieldIndexer in newer versions, where that is an alias.
	"sigs.k8s.io/controller-runtime/pkg/cache/cacheapi": {"FieldIndexer.IndexField"},
}

func (p *program) handField(i *ssa.Store) {
	address, ok := i.Addr.(*ssa.FieldAddr)
	if !ok {
		return
	}
	path, name := kube.TypeName(address.X.Type())
	if slices.Contains(handlerTypes[path], strings.TrimPrefix(name, "Typed")) {
		p.hand(i.Val, "the handler's object")
	}
}

func (p *program) handCall(common *ssa.CallCommon) {
	obj := calledObject(common)
	p.handWithInformer(obj, common)
	if obj == nil || !kube.IsFunc(obj, kube.PackagePath(obj.Pkg()), callers[kube.PackagePath(obj.Pkg())]...) {
		return
	}
	for _, arg := range common.Args {
		p.hand(arg, "the object that "+obj.Name()+" passes")
	}
}

// handWithInformer marks the functions of any value that a function gets together with an informer:
// it calls them with the informer's objects. Those with a result, such as transforms and
// functions for keys, are not meant.
func (p *program) handWithInformer(obj *types.Func, common *ssa.CallCommon) {
	if obj == nil || kube.PackagePath(obj.Pkg()) == kube.Cache {
		return
	}
	var all passed
	for _, arg := range common.Args {
		all.add(arg, 5)
	}
	if !all.informer {
		return
	}
	for _, v := range all.functions {
		if fn := p.hand(v, "the object that "+obj.Name()+" passes"); fn != nil {
			p.handedAny[fn] = true
		}
	}
}

// passed collects the informer and the functions among the arguments of a call.
type passed struct {
	informer  bool
	functions []ssa.Value
}

// add adds a value, and those that it is made of by calls, up to a depth.
func (b *passed) add(v ssa.Value, depth int) {
	if depth == 0 {
		return
	}
	path, name := kube.TypeName(v.Type())
	if path == kube.Cache && (name == "SharedInformer" || name == "SharedIndexInformer") {
		b.informer = true
		return
	}
	if fn, _ := functionOf(v); fn != nil {
		if takesAny(fn.Signature) {
			b.functions = append(b.functions, v)
		}
		return
	}
	switch v := v.(type) {
	case *ssa.Call:
		for _, arg := range v.Call.Args {
			b.add(arg, depth-1)
		}
	case *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.ChangeType:
		b.add(operand(v), depth)
	case *ssa.Slice:
		for _, element := range elements(v) {
			b.add(element, depth)
		}
	}
}

// takesAny reports whether a function has one parameter of any type and perhaps a context, and
// no result but an error.
func takesAny(s *types.Signature) bool {
	count := 0
	for v := range s.Params().Variables() {
		switch {
		case kube.IsType(v.Type(), "context", "Context"):
		case isAny(v.Type()):
			count++
		default:
			return false
		}
	}
	for v := range s.Results().Variables() {
		if !isError(v.Type()) {
			return false
		}
	}
	return count == 1
}

// handMethod finds methods that are called with objects of a cache by their signatures.
func (p *program) handMethod(fn *ssa.Function) {
	for i, v := range fn.Params {
		path, name := kube.TypeName(v.Type())
		name = strings.TrimPrefix(name, "Typed")
		if path == kube.Event && slices.Contains([]string{"CreateEvent", "UpdateEvent", "DeleteEvent"}, name) {
			p.mark(fn, i, "the event's object")
		}
	}
	if fn.Signature.Recv() == nil || !slices.Contains([]string{"OnAdd", "OnUpdate", "OnDelete"}, fn.Name()) {
		return
	}
	if fn.Name() == "OnUpdate" && len(fn.Params) != 3 || fn.Name() == "OnDelete" && len(fn.Params) != 2 || len(fn.Params) < 2 {
		return
	}
	for i, v := range fn.Params[1:] {
		if isAny(v.Type()) {
			p.mark(fn, i+1, "the handler's object")
		}
	}
}

// hand marks the parameters of a function value that are objects, and returns the function.
func (p *program) hand(v ssa.Value, from string) *ssa.Function {
	fn, _ := functionOf(v)
	if fn == nil {
		return nil
	}
	shift := 0
	if obj, ok := fn.Object().(*types.Func); ok && strings.HasPrefix(fn.Synthetic, "bound method") {
		if fn = p.ssa.FuncValue(obj); fn == nil {
			return nil
		}
		shift = 1
	}
	for i, param := range fn.Params {
		if i >= shift && isObjectParam(param.Type()) {
			p.mark(fn, i, from)
		}
	}
	return fn
}

func isObjectParam(t types.Type) bool {
	_, isParam := types.Unalias(t).(*types.TypeParam)
	return isParam || isAny(t) || kube.IsObject(t) || kube.IsType(t, kube.Runtime, "Object") || kube.IsType(t, kube.Typed+"/typed", "Deleted") ||
		kube.IsType(t, kube.Cache, "DeletedObject")
}

func (p *program) mark(fn *ssa.Function, i int, from string) {
	if p.handed[fn] == nil {
		p.handed[fn] = map[int]string{}
	}
	p.handed[fn][i] = from
}

var makesStore = []string{"NewStore", "NewIndexer", "NewTTLStore", "NewExpirationStore", "NewThreadSafeStore"}

// madeBy returns the name of the function of client-go's cache that made a value.
func madeBy(v ssa.Value) string {
	switch v := v.(type) {
	case *ssa.MakeInterface, *ssa.ChangeInterface:
		return madeBy(operand(v))
	case *ssa.Call:
		if obj := calledObject(&v.Call); obj != nil && kube.PackagePath(obj.Pkg()) == kube.Cache {
			return obj.Name()
		}
	}
	return ""
}

// variable returns a field or variable by its address.
func variable(address ssa.Value) any {
	switch a := address.(type) {
	case *ssa.FieldAddr:
		t := a.X.Type().Underlying()
		if ptr, ok := t.(*types.Pointer); ok {
			t = ptr.Elem().Underlying()
		}
		if s, ok := t.(*types.Struct); ok {
			return s.Field(a.Field).Origin()
		}
	case *ssa.Global, *ssa.Alloc:
		return a
	}
	return nil
}

// isPrivate reports whether a store is the program's own.
func (p *program) isPrivate(store ssa.Value) bool {
	if slices.Contains(makesStore, madeBy(store)) {
		return true
	}
	switch v := store.(type) {
	case *ssa.UnOp:
		return p.private[variable(v.X)]
	case *ssa.ChangeInterface:
		return p.isPrivate(v.X)
	case *ssa.Field:
		if s, ok := v.X.Type().Underlying().(*types.Struct); ok {
			return p.private[s.Field(v.Field).Origin()]
		}
	}
	return false
}
