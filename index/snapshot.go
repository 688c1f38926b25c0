package index

import (
	"iter"

	"k8s.io/apimachinery/pkg/labels"
)

// Snapshot is one state of an Indexer: its objects, their keys, its indexes
// (see Index.In) and its resource version. It never changes, takes no lock,
// and may be kept and shared; it holds on to the objects that it has, and to its Indexer. Taking
// it costs the same for any number of objects; after it the indexer copies, once,
// each page of a thousand entries that it writes to.
type Snapshot[T Object] struct {
	slots      slots[T]
	objects    pages[T]
	namespaces *Index[string, T]
	indexes    []frozenPart // a *frozenIndex for each index, and for namespaces
	handles    []Definition[T]
	version    string
}

// Get returns the object of key, false if there is none.
func (s *Snapshot[T]) Get(key Key) (T, bool) {
	if e := s.slots.find(key); e != nil {
		return e.object, true
	}
	var none T
	return none, false
}

// Len returns the number of objects.
func (s *Snapshot[T]) Len() int { return int(s.objects.n) }

// List returns all objects, in no particular order, nil if there are none. The
// slice is the caller's.
func (s *Snapshot[T]) List() []T { return s.objects.collect() }

// All ranges over all objects, in no particular order.
func (s *Snapshot[T]) All() iter.Seq[T] { return all(s.objects) }

// ListNamespace returns the objects of one namespace, in no particular order,
// nil if there are none. The slice is the caller's.
func (s *Snapshot[T]) ListNamespace(namespace string) []T { return s.inNamespaces().Get(namespace) }

// InNamespace ranges over the objects of one namespace.
func (s *Snapshot[T]) InNamespace(namespace string) iter.Seq[T] {
	return s.inNamespaces().All(namespace)
}

func (s *Snapshot[T]) inNamespaces() View[string, T] {
	last := s.indexes[len(s.handles)].(*frozenIndex[string, T])
	return View[string, T]{objects: s.objects, posts: last.posts}
}

// Keys ranges over the keys of all objects, in no particular order.
func (s *Snapshot[T]) Keys() iter.Seq[Key] { return s.slots.keys() }

// Candidates ranges over the objects that the indexes cannot rule out for a
// namespace and a selector, see Reader.
func (s *Snapshot[T]) Candidates(namespace string, selector labels.Selector) iter.Seq[T] {
	requirements, selectable := requirementsOf(selector)
	if !selectable {
		return func(func(T) bool) {}
	}
	return s.Intersect(candidateTerms(s.namespaces, s.handles, namespace, requirements)...)
}

// ResourceVersion returns the version that the state reflects.
func (s *Snapshot[T]) ResourceVersion() string { return s.version }

// Snapshot returns s.
func (s *Snapshot[T]) Snapshot() *Snapshot[T] { return s }
