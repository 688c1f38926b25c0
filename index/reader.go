package index

import (
	"iter"

	"k8s.io/apimachinery/pkg/labels"
)

// Reader is the read side of a store of objects. *Indexer, *Snapshot and the
// informer implement it.
//
// Every method is safe for concurrent use and answers from one consistent
// state, in which objects and indexes agree. Of an Indexer that is its current
// state; the read lock is held for a moment that does not depend on the number
// of objects, and never while the body of a loop runs, which may therefore do
// whatever it likes, also with the indexer. If T is a pointer or an interface,
// Get takes the lock rarely, such as during a write. The objects are shared: they must
// not be modified.
//
// A store that was released has nothing to answer from. Every method but Err and
// ResourceVersion then panics with an error that wraps ErrReleased; see
// Indexer.Release.
type Reader[T Object] interface {
	// Get returns the object of key, false if there is none.
	Get(key Key) (T, bool)
	// Len returns the number of objects.
	Len() int
	// List returns all objects, in no particular order, nil if there are none.
	// The slice is the caller's.
	List() []T
	// All ranges over all objects, in no particular order, without copying
	// them.
	All() iter.Seq[T]
	// ListNamespace returns the objects of one namespace, in no particular order,
	// nil if there are none. The slice is the caller's.
	ListNamespace(namespace string) []T
	// InNamespace ranges over the objects of one namespace; those of
	// cluster-scoped resources are in the namespace "".
	InNamespace(namespace string) iter.Seq[T]
	// Candidates ranges over the objects of a namespace, "" for all, that may
	// match a selector, in no particular order: it leaves out those that
	// indexes rule out, see Labels, and the caller checks the rest. A nil
	// selector matches everything.
	Candidates(namespace string, selector labels.Selector) iter.Seq[T]
	// Keys ranges over the keys of all objects, in no particular order.
	Keys() iter.Seq[Key]
	// ResourceVersion returns the version up to which the state reflects what
	// the server reported, "" before anything was stored. It is never ahead of
	// what the other methods return.
	ResourceVersion() string
	// Snapshot returns the current state, which then stays as it is.
	Snapshot() *Snapshot[T]
	// Err returns nil as long as there is something to read from, which may be
	// empty, and an error that wraps ErrReleased after that was released.
	Err() error
}
