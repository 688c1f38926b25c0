package adapters

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters/internal/listwatch"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/kept"
)

// Informers of objects of any type can keep them as bytes: as a *kept.Object each, which is
// decoded where it becomes untyped.

// keeps reports whether an object is kept as bytes.
func (c conversion[T]) keeps(obj T) bool {
	if !c.packs {
		return false
	}
	_, ok := any(obj).(*kept.Object)
	return ok
}

// decoded does as untyped, if objects can be kept as bytes.
func (c conversion[T]) decoded(obj T) (any, error) {
	if o, ok := any(obj).(*kept.Object); ok {
		return o.Whole()
	}
	return c.plain(obj), nil
}

// knownBefore does as known for the old object of an update to another one, which was made
// untyped before.
func (c conversion[T]) knownBefore(old T, updated any) (any, bool) {
	o, ok := any(old).(*kept.Object)
	if !c.packs || !ok {
		return c.known(old)
	}
	later, _ := updated.(kept.Whole)
	whole, err := o.Before(later)
	return whole, err == nil || c.report(old, err)
}

// appendDecoded does as appendUntyped, if objects can be kept as bytes. The ring does not take
// these.
func (c conversion[T]) appendDecoded(dst []any, objs []T) []any {
	for _, obj := range objs {
		o, ok := any(obj).(*kept.Object)
		if !ok {
			dst = append(dst, c.plain(obj))
			continue
		}
		if whole, err := o.Peek(); err == nil || c.report(obj, err) {
			dst = append(dst, whole)
		}
	}
	return dst
}

// report reports that an object cannot be decoded, once for the object, and returns false.
func (conversion[T]) report(obj T, err error) bool {
	if o, ok := any(obj).(*kept.Object); ok {
		o.Report(func() { utilruntime.HandleError(err) })
	}
	return false
}

// unwrap returns the ListerWatcher in those that say how its informer is to be.
func unwrap(lw cache.ListerWatcher) (cache.ListerWatcher, *listwatch.Writing, *listwatch.Packing) {
	writing, _ := lw.(*listwatch.Writing)
	if writing != nil {
		lw = writing.ListerWatcher
	}
	packing, _ := lw.(*listwatch.Packing)
	if packing != nil {
		lw = packing.ListerWatcher
	}
	return lw, writing, packing
}

// packingListerWatcher is listerWatcher for objects that are kept as bytes.
func (s *reflectorSource[T]) packingListerWatcher(ctx context.Context) (lw cache.ListerWatcher, wait func()) {
	lw, packed, err := s.packing.Pack(func(key index.Key) *kept.Object {
		stored, _ := s.held(key)
		before, _ := stored.(*kept.Object)
		return before
	})
	if err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Packed objects are kept whole", "informer", s.name)
		return s.lw, func() {}
	}
	s.packed = packed
	return lw, packed.Wait
}

// expected returns the type of objects that the Reflector checks; nil: any.
func (s *reflectorSource[T]) expected() runtime.Object {
	if s.packed != nil {
		return nil
	}
	return s.example
}

// described returns what the Reflector calls the objects, as it would by their type.
func (s *reflectorSource[T]) described() string {
	if s.packed == nil || s.description != "" || s.example == nil {
		return s.description
	}
	if kind := s.expectedKind(); !kind.Empty() {
		return kind.String()
	}
	return reflect.TypeOf(s.example).String()
}

// expectedKind returns the kind of unstructured objects, nothing if they can be of any.
func (s *reflectorSource[T]) expectedKind() schema.GroupVersionKind {
	if u, ok := s.example.(*unstructured.Unstructured); ok {
		return u.GroupVersionKind()
	}
	return schema.GroupVersionKind{}
}

// checkWhole returns an error if an object is none of those that the Reflector would have let
// pass, where it does not check.
func (s *reflectorSource[T]) checkWhole(obj any) error {
	if s.packed == nil || s.example == nil {
		return nil
	}
	if _, ok := obj.(*kept.Object); !ok && reflect.TypeOf(obj) != reflect.TypeOf(s.example) {
		return fmt.Errorf("type is %T, want %T", obj, s.example)
	}
	expected := s.expectedKind()
	if o, ok := obj.(runtime.Object); ok && !expected.Empty() && o.GetObjectKind().GroupVersionKind() != expected {
		return fmt.Errorf("kind is %s, want %s", o.GetObjectKind().GroupVersionKind(), expected)
	}
	return nil
}

// watchOver adds an object to client-go's detector of modifications. For one that is kept as
// bytes, that is the decoded object in the ring, which handlers get.
func (s *reflectorSource[T]) watchOver(obj T) {
	o, ok := any(obj).(*kept.Object)
	if !ok {
		untyped, _ := s.untyped(obj) // only a kept object has an error
		s.detector.AddObject(untyped)
	} else if whole, ok := o.Recent(); ok {
		s.detector.AddObject(whole)
	}
}

var namespaceFunc = reflect.ValueOf(cache.MetaNamespaceIndexFunc).Pointer()

// isByNamespace reports whether an index function is client-go's for namespaces: it need not see
// whole objects.
func isByNamespace(f cache.IndexFunc) bool { return reflect.ValueOf(f).Pointer() == namespaceFunc }

// FreshByKey does as GetByKey, with an object that is the caller's.
func (x *indexer[T]) FreshByKey(key string) (obj runtime.Object, exists bool, err error) {
	stored, ok := x.store.Get(keyOf(key))
	if !ok || x.scope != nil {
		item, exists, err := x.GetByKey(key) // which knows why
		if obj, ok = item.(runtime.Object); ok {
			obj = obj.DeepCopyObject()
		}
		return obj, exists && ok, err
	}
	obj, err = x.fresh(stored)
	return obj, err == nil, err
}

// EachFresh calls a function, until that returns false, for all objects, or those of a value of
// an index unless its name is empty, with their labels and what makes an object that is the caller's.
func (x *indexer[T]) EachFresh(name, value string, each func(of labels.Labels, fresh func() (runtime.Object, error)) bool) error {
	all := x.store.All()
	if name != "" {
		idx, err := x.index(name)
		if err != nil {
			return err
		}
		all = idx.of.All(value)
	}
	stay, err := x.scope.begin(name, value)
	if err != nil {
		return err
	}
	for obj := range all {
		var of labels.Labels
		if o, ok := any(obj).(*kept.Object); ok {
			of = o.KeptLabels()
		} else {
			accessor, err := meta.Accessor(obj)
			if err != nil {
				return err
			}
			of = labels.Set(accessor.GetLabels())
		}
		if !each(of, func() (runtime.Object, error) { return x.fresh(obj) }) {
			break
		}
	}
	return x.scope.end(name, value, stay)
}

// fresh returns an object that is the caller's.
func (x *indexer[T]) fresh(obj T) (runtime.Object, error) {
	if o, ok := any(obj).(*kept.Object); ok {
		return o.Decode()
	}
	untyped, err := x.untyped(obj)
	if err != nil {
		return nil, err
	}
	o, ok := untyped.(runtime.Object)
	if !ok {
		return nil, fmt.Errorf("a %T is no object", untyped)
	}
	return o.DeepCopyObject(), nil
}
