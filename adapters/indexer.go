package adapters

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/sets"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// Indexer returns x as client-go's Indexer, which can be read and written:
// generated listers read from it, and tests fill it.
//
//	pods := index.NewIndexer[*corev1.Pod]()
//	lister := corev1listers.NewPodLister(adapters.Indexer(pods))
//
// Its indexes are those that are added by AddIndexers; those that x has besides
// are not seen through it. What is not a T cannot be stored; the error is a
// cache.KeyError if it has no key either. It is a cache.TransactionStore too.
//
// An index function that returns an error makes the call panic that stores the
// object, as in client-go; unlike there, the object is then not stored.
func Indexer[T index.Object](x *index.Indexer[T]) cache.TypedIndexer[T] {
	return newIndexer(x, ofType[T]())
}

// indexer is client-go's Indexer, with the semantics of what cache.NewIndexer
// makes, on top of an index.Indexer. All of its methods are safe for concurrent
// use.
type indexer[T index.Object] struct {
	conversion[T]

	store      index.Reader[T]
	writer     *index.Indexer[T] // the same; nil: it cannot be written
	addIndexes func(indexes ...index.Handle[T]) error
	late       *latePanics[T]       // of index functions; nil: they are not put off
	changed    func(version string) // called when a write has set the version; nil: nobody

	adding  sync.Mutex // held while indexes are added
	indexes atomic.Pointer[map[string]namedIndex[T]]
}

// namedIndex is an index with the function that it was made of.
type namedIndex[T index.Object] struct {
	*index.Index[string, T]

	keys cache.IndexFunc
}

var (
	_ cache.TypedIndexer[*namedObject] = (*indexer[*namedObject])(nil)
	_ cache.TransactionStore           = (*indexer[*namedObject])(nil)
)

func newIndexer[T index.Object](store *index.Indexer[T], conv conversion[T]) *indexer[T] {
	x := &indexer[T]{conversion: conv, store: store, writer: store, addIndexes: store.AddIndexes}
	x.indexes.Store(&map[string]namedIndex[T]{})
	return x
}

// newInformerIndexer returns the store of an informer that was made elsewhere.
func newInformerIndexer[T index.Object](inf *typed.Informer[T], conv conversion[T]) *indexer[T] {
	x := &indexer[T]{conversion: conv, store: inf, writer: inf.Indexer(), addIndexes: inf.AddIndexes}
	x.indexes.Store(&map[string]namedIndex[T]{})
	return x
}

// GetIndexers implements cache.Indexer. The map is the caller's.
func (x *indexer[T]) GetIndexers() cache.Indexers {
	indexers := cache.Indexers{}
	for name, idx := range *x.indexes.Load() {
		indexers[name] = idx.keys
	}
	return indexers
}

// AddIndexers implements cache.Indexer. It returns an error, and adds none, if
// one of the names is taken or there is no function to a name.
func (x *indexer[T]) AddIndexers(added cache.Indexers) error {
	x.adding.Lock()
	defer x.adding.Unlock()
	indexes := maps.Clone(*x.indexes.Load())
	if taken := sets.KeySet(indexes).Intersection(sets.KeySet(added)); len(taken) > 0 {
		return fmt.Errorf("indexer conflict: %v", taken)
	}
	handles := make([]index.Handle[T], 0, len(added))
	for name, f := range added {
		if f == nil {
			return fmt.Errorf("indexer %q has no function", name)
		}
		idx := namedIndex[T]{x.newIndex(name, f), f}
		indexes[name] = idx
		handles = append(handles, idx.Index)
	}
	var err error
	x.late.during(&userWrite[T]{indexers: added}, func() {
		if err = x.addIndexes(handles...); err == nil {
			x.indexes.Store(&indexes)
		}
	})
	return err
}

// newIndex returns an index for a function.
func (x *indexer[T]) newIndex(name string, f cache.IndexFunc) *index.Index[string, T] {
	if x.late == nil {
		return newIndex(name, f, x.untyped)
	}
	return index.New(name, func(obj T) (values []string) {
		defer x.late.catch(name, obj)
		return mustIndex(name, f, index.KeyOf(obj), x.untyped(obj))
	})
}

// AddTypedIndexers implements cache.TypedIndexer.
func (x *indexer[T]) AddTypedIndexers(added cache.TypedIndexers[T]) error {
	untyped := make(cache.Indexers, len(added))
	for name, f := range added {
		if f == nil {
			return fmt.Errorf("indexer %q has no function", name)
		}
		untyped[name] = func(obj any) ([]string, error) {
			typed, err := x.typed(obj)
			if err != nil {
				return nil, err
			}
			return f(typed)
		}
	}
	return x.AddIndexers(untyped)
}

// named returns an index by its name.
func (x *indexer[T]) named(name string) (namedIndex[T], error) {
	idx, ok := (*x.indexes.Load())[name]
	if !ok {
		return idx, fmt.Errorf("Index with name %s does not exist", name) //nolint:staticcheck // client-go's words
	}
	return idx, nil
}

// LastStoreSyncResourceVersion implements cache.Store. It is empty if
// client-go's feature gate AtomicFIFO is off, as there.
func (x *indexer[T]) LastStoreSyncResourceVersion() string {
	if !clientfeatures.FeatureGates().Enabled(clientfeatures.AtomicFIFO) {
		return ""
	}
	return toldVersion(x.store.ResourceVersion())
}

// Resync implements cache.Store. There is nothing to do.
func (x *indexer[T]) Resync() error { return nil }
