package adapters

import (
	"fmt"
	"iter"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
)

// Reader returns a typed view of a client-go indexer, such as that of a shared
// informer: typed reads, and listers, without a copy of anything.
//
//	pods := lister.New(adapters.Reader[*corev1.Pod](informer.GetIndexer()))
//
// It costs what the indexer's reads cost, and a conversion of each object:
//
//   - Get makes the indexer's string of the key.
//   - All, Keys and Len list the indexer first, as List does, so a loop over them
//     sees one state and holds no lock.
//   - Namespace, ListNamespace and Candidates use the indexer's index
//     cache.NamespaceIndex if it has one, else they list everything.
//     Candidates rules nothing out by labels.
//   - Snapshot makes an index.Indexer of the list each time, which takes about 150 B and a few
//     microseconds an object (measured with 100,000 Pods). It is of one state, at the version
//     that the indexer had before, or a later one.
//
// The indexer's keys have to be those of cache.MetaNamespaceKeyFunc. An object that is not a T
// is reported by utilruntime.HandleError and left out, each time that it is read. If the
// indexer is nil, the view is empty.
//
// An indexer that this package made for objects of type T, as Indexer and
// SharedIndexInformer do, is not looked at through: Reader returns what it was
// made of.
func Reader[T cache.Object](of cache.Indexer) index.Reader[T] {
	if of == nil {
		return index.NewIndexer[T]()
	}
	if x, ok := of.(*indexer[T]); ok && !x.anything { // what objects of any type are stored as is not for others
		return x.store
	}
	return &indexerReader[T]{indexer: of}
}

// indexerReader is an index.Reader of a client-go indexer.
type indexerReader[T cache.Object] struct{ indexer cache.Indexer }

// Get implements index.Reader.
func (r *indexerReader[T]) Get(key index.Key) (obj T, exists bool) {
	untyped, exists, err := r.indexer.GetByKey(key.String())
	switch {
	case err != nil:
		r.report(fmt.Errorf("get %q: %w", key, err))
	case exists:
		return r.convert(untyped)
	}
	return obj, false
}

// Len implements index.Reader.
func (r *indexerReader[T]) Len() int { return len(r.List()) }

// List implements index.Reader.
func (r *indexerReader[T]) List() []T { return r.convertAll(r.indexer.List()) }

// All implements index.Reader.
func (r *indexerReader[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) { slices.Values(r.List())(yield) }
}

// ListNamespace implements index.Reader.
func (r *indexerReader[T]) ListNamespace(namespace string) []T {
	if _, ok := r.indexer.GetIndexers()[cache.NamespaceIndex]; ok {
		untyped, err := r.indexer.ByIndex(cache.NamespaceIndex, namespace)
		if err == nil {
			return r.convertAll(untyped)
		}
		r.report(fmt.Errorf("list namespace %q by index: %w", namespace, err))
	}
	var found []T
	for _, obj := range r.List() {
		if obj.GetNamespace() == namespace {
			found = append(found, obj)
		}
	}
	return found
}

// InNamespace implements index.Reader.
func (r *indexerReader[T]) InNamespace(namespace string) iter.Seq[T] {
	return func(yield func(T) bool) { slices.Values(r.ListNamespace(namespace))(yield) }
}

// Candidates implements index.Reader.
func (r *indexerReader[T]) Candidates(namespace string, _ labels.Selector) iter.Seq[T] {
	if namespace == "" {
		return r.All()
	}
	return r.InNamespace(namespace)
}

// Keys implements index.Reader.
func (r *indexerReader[T]) Keys() iter.Seq[index.Key] {
	return func(yield func(index.Key) bool) {
		for _, obj := range r.List() {
			if !yield(index.KeyOf(obj)) {
				return
			}
		}
	}
}

// ResourceVersion implements index.Reader.
func (r *indexerReader[T]) ResourceVersion() string {
	return r.indexer.LastStoreSyncResourceVersion()
}

// Snapshot implements index.Reader.
func (r *indexerReader[T]) Snapshot() *index.Snapshot[T] {
	version := r.ResourceVersion() // first: the list may be later, and not earlier
	x := index.NewIndexer[T]()
	x.Replace(nil, r.List(), version, index.Initial)
	return x.Snapshot()
}

// Err implements index.Reader. It returns nil: client-go's stores are not released.
func (r *indexerReader[T]) Err() error { return nil }

func (r *indexerReader[T]) convertAll(list []any) []T {
	objs := slices.Grow([]T(nil), len(list))
	for _, untyped := range list {
		if obj, ok := r.convert(untyped); ok {
			objs = append(objs, obj)
		}
	}
	return objs
}

// convert returns the object as a T. It reports an object that is nil or not a T.
func (r *indexerReader[T]) convert(untyped any) (T, bool) {
	obj, ok := untyped.(T)
	if ok && !isZero(obj) {
		return obj, true
	}
	r.report(fmt.Errorf("a %T was left out", untyped))
	var none T
	return none, false
}

func (r *indexerReader[T]) report(err error) {
	utilruntime.HandleError(fmt.Errorf("typed view of an indexer, objects of type %v: %w", reflect.TypeFor[T](), err))
}
