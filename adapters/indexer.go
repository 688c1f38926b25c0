package adapters

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/sets"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
)

// Indexer returns x as client-go's Indexer, which can be read and written:
// generated listers read from it, and tests fill it.
//
//	pods := index.NewIndexer[*corev1.Pod]()
//	lister := corev1listers.NewPodLister(adapters.Indexer(pods))
//
// Its indexes are those that are added by AddIndexers; those that x has besides are not seen
// through it. An object that is not a T cannot be stored; the error is a cache.KeyError if it
// has no key either. It is a cache.TransactionStore too.
//
// An index function that returns an error makes the call panic that stores the
// object, as in client-go; unlike there, the object is then not stored.
//
// If x is nil, reads find nothing, and the methods that return an error return one.
func Indexer[T cache.Object](x *index.Indexer[T]) cache.TypedIndexer[T] {
	if x == nil {
		none := newIndexer(index.NewIndexer[T](), nil, func(...index.Definition[T]) error { return errNilIndexer }, ofType[T]())
		none.readOnly = errNilIndexer
		return none
	}
	return newIndexer(x, x, x.AddIndexes, ofType[T]())
}

var errNilIndexer = errors.New("adapters.Indexer: indexer is nil: make one with index.NewIndexer")

// indexer is client-go's Indexer, with the semantics of what cache.NewIndexer
// makes, on top of an index.Indexer. All of its methods are safe for concurrent
// use.
type indexer[T cache.Object] struct {
	conversion[T]

	store      index.Reader[T]
	writer     *index.Indexer[T] // the same; nil: it cannot be written
	readOnly   error             // returned by writes if writer is nil
	keyed      *index.Indexer[T] // the same, if it has keys as strings; else nil
	addIndexes func(indexes ...index.Definition[T]) error
	scope      *scope               // nil: all namespaces can be read
	late       *latePanics[T]       // of index functions; nil: they are not put off
	changed    func(version string) // called when a write has set the version; nil: no call

	scratch sync.Pool // of *userWrite[T]

	adding sync.Mutex // held while indexes are added
	named  atomic.Pointer[namedIndexes[T]]
}

// namedIndexes are the indexes of an indexer. They are never changed.
type namedIndexes[T cache.Object] struct {
	byName   map[string]namedIndex[T]
	indexers cache.Indexers // the same, as they were added
}

// namedIndex is an index with the function that it was made of.
type namedIndex[T cache.Object] struct {
	of   *index.Index[string, T]
	keys cache.IndexFunc
}

func _[T cache.Object]() {
	var _ cache.TypedIndexer[T] = (*indexer[T])(nil)
	var _ cache.TransactionStore = (*indexer[T])(nil)
}

func newIndexer[T cache.Object](store index.Reader[T], writer *index.Indexer[T], addIndexes func(...index.Definition[T]) error, conv conversion[T]) *indexer[T] {
	x := &indexer[T]{conversion: conv, store: store, writer: writer, readOnly: errReadOnly, addIndexes: addIndexes}
	x.named.Store(&namedIndexes[T]{indexers: cache.Indexers{}})
	return x
}

// GetIndexers implements cache.Indexer. The map must not be modified; it is that
// of the moment.
func (x *indexer[T]) GetIndexers() cache.Indexers { return x.named.Load().indexers }

// AddIndexers implements cache.Indexer. It returns an error, and adds none, if
// one of the names is taken or there is no function to a name.
func (x *indexer[T]) AddIndexers(added cache.Indexers) error {
	x.adding.Lock()
	defer x.adding.Unlock()
	before := x.named.Load()
	if taken := sets.KeySet(before.indexers).Intersection(sets.KeySet(added)); len(taken) > 0 {
		return fmt.Errorf("indexer conflict: %v", taken)
	}
	after := &namedIndexes[T]{byName: map[string]namedIndex[T]{}, indexers: maps.Clone(before.indexers)}
	maps.Copy(after.byName, before.byName)
	handles := make([]index.Definition[T], 0, len(added))
	for name, f := range added {
		if f == nil {
			return fmt.Errorf("indexer %q has no function", name)
		}
		idx := namedIndex[T]{x.newIndex(name, f), f}
		after.byName[name], after.indexers[name] = idx, f
		handles = append(handles, idx.of)
	}
	w := &userWrite[T]{indexers: added}
	x.late.begin(w)
	defer x.late.end(w)
	if err := x.addIndexes(handles...); err != nil {
		return err
	}
	x.named.Store(after)
	return nil
}

// newIndex returns an index for a function.
func (x *indexer[T]) newIndex(name string, f cache.IndexFunc) *index.Index[string, T] {
	if x.late == nil {
		return newIndex(name, f, x.conversion)
	}
	byNamespace := isByNamespace(f)
	return index.New(name, func(obj T) (values []string) {
		defer x.late.catch(name, obj)
		if byNamespace && x.keeps(obj) {
			return []string{obj.GetNamespace()}
		}
		return mustIndex(name, f, obj, x.conversion)
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

// index returns an index by its name.
func (x *indexer[T]) index(name string) (namedIndex[T], error) {
	idx, ok := x.named.Load().byName[name]
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
	return clientVersion(x.store.ResourceVersion())
}

// Resync implements cache.Store. There is nothing to do.
func (x *indexer[T]) Resync() error { return nil }
