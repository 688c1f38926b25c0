package typed

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/heapsize"
	"github.com/kubetyped/informer/typed/report"
)

// AnyInformer is an *Informer or a *SharedInformer, whatever the type of its objects: what
// those ask who show informers on pages or in metrics. Nothing panics after Release; there
// are no objects then.
type AnyInformer interface {
	// Name is Informer.Name.
	Name() string
	// Status is Informer.Status.
	Status() Status
	// EstimateHeap is Informer.EstimateHeap.
	EstimateHeap(sample int) report.Heap
	// IndexSizes is Informer.IndexSizes.
	IndexSizes() []index.IndexSize
	// Explain is Informer.Explain.
	Explain(key index.Key) report.Key
	// ObjectJSON is Informer.ObjectJSON.
	ObjectJSON(key index.Key) ([]byte, error)
}

// EstimateHeap estimates the memory of the objects by measuring some of them: up to sample,
// spread evenly over all. That takes about tens of microseconds for each, and is for pages and
// budgets, not for hot paths. The informer continues meanwhile.
func (i *Informer[T]) EstimateHeap(sample int) report.Heap {
	s, ok := i.snapshotNow()
	if !ok || s.Len() == 0 || sample < 1 {
		return report.Heap{}
	}
	h := report.Heap{Objects: s.Len()}
	scale, part := heapsize.NewScale(), 0 // of an object that is to be measured, in parts of Objects
	sample = min(sample, h.Objects)
	for obj := range s.All() {
		if part += sample; part >= h.Objects {
			part -= h.Objects
			scale.Add(obj)
		}
	}
	h.Sampled = scale.Added()
	h.Bytes = scale.Bytes() * int64(h.Objects) / int64(h.Sampled)
	return h
}

// IndexSizes returns how large the indexes are, in the order in which they were added. It
// looks at each of their keys, while the informer continues.
func (i *Informer[T]) IndexSizes() []index.IndexSize {
	if s, ok := i.snapshotNow(); ok {
		return s.IndexSizes()
	}
	return nil
}

// Explain reports what the informer knows of a key.
func (i *Informer[T]) Explain(key index.Key) report.Key {
	var k report.Key
	if rejected := i.Rejected(key); rejected != nil {
		k.Rejected = rejected
	}
	k.Events = i.history.of(key)
	s, ok := i.snapshotNow()
	if !ok {
		return k
	}
	obj, found := s.Get(key)
	if !found {
		return k
	}
	k.Found, k.Indexes = true, s.IndexKeys(key)
	k.UID, k.ResourceVersion = uidOf(obj), versionOf(obj)
	return k
}

// ObjectJSON returns the object of a key as JSON, as far as its type can be encoded: for
// people to look at. The error wraps index.ErrReleased, or says that there is no such object.
func (i *Informer[T]) ObjectJSON(key index.Key) ([]byte, error) {
	s, ok := i.snapshotNow()
	if !ok {
		return nil, fmt.Errorf("informer %s: %w", i.name, index.ErrReleased)
	}
	obj, found := s.Get(key)
	if !found {
		return nil, fmt.Errorf("informer %s: there is no object %s", i.name, key)
	}
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("informer %s: object %s: %w", i.name, key, err)
	}
	return text, nil
}

// snapshotNow returns the state of the store, false if that was released.
func (i *Informer[T]) snapshotNow() (s *index.Snapshot[T], ok bool) {
	ok = unlessReleased(func() { s = i.store.Snapshot() })
	return s, ok
}

func uidOf[T index.Object](obj T) types.UID {
	if u, ok := any(obj).(uidGetter); ok {
		return u.GetUID()
	}
	return ""
}

func versionOf[T index.Object](obj T) string {
	if v, ok := any(obj).(versionGetter); ok {
		return v.GetResourceVersion()
	}
	return ""
}

// EstimateHeap estimates the memory of the objects, see Informer.EstimateHeap.
func (s *SharedInformer[T]) EstimateHeap(sample int) report.Heap {
	return s.informer.Load().EstimateHeap(sample)
}

// IndexSizes returns how large the indexes are, see Informer.IndexSizes.
func (s *SharedInformer[T]) IndexSizes() []index.IndexSize { return s.informer.Load().IndexSizes() }

// Explain reports what the informer knows of a key.
func (s *SharedInformer[T]) Explain(key index.Key) report.Key { return s.informer.Load().Explain(key) }

// ObjectJSON returns the object of a key as JSON, see Informer.ObjectJSON.
func (s *SharedInformer[T]) ObjectJSON(key index.Key) ([]byte, error) {
	return s.informer.Load().ObjectJSON(key)
}

// Informers returns the informers that are in use, in the order of their names. They are
// not uses of them: they do not keep an informer from ending, and answer as released ones
// do when it has.
func (f *Factory) Informers() []AnyInformer {
	f.mu.Lock()
	defer f.mu.Unlock()
	var informers []AnyInformer
	for _, s := range f.sorted() {
		informers = append(informers, s.informer)
	}
	return slices.Clip(informers)
}
