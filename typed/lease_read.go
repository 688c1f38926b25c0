package typed

import (
	"iter"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// Name returns the informer's name.
func (l *Lease[T]) Name() string { return l.informer.Load().Name() }

// Synced returns a channel that is closed when the store holds the first list.
// After Release it is one that is never closed.
func (l *Lease[T]) Synced() <-chan struct{} { return l.informer.Load().Synced() }

// Status reports on the informer.
func (l *Lease[T]) Status() Status { return l.informer.Load().Status() }

// Get returns the object of key, false if there is none.
func (l *Lease[T]) Get(key index.Key) (T, bool) { return l.informer.Load().Get(key) }

// Rejected tells what was wrong with the latest state of an object, see
// Informer.Rejected.
func (l *Lease[T]) Rejected(key index.Key) *source.RejectedError {
	return l.informer.Load().Rejected(key)
}

// Len returns the number of objects.
func (l *Lease[T]) Len() int { return l.informer.Load().Len() }

// List returns all objects, in no particular order, nil if there are none. The
// slice is the caller's.
func (l *Lease[T]) List() []T { return l.informer.Load().List() }

// All ranges over all objects, in no particular order, without copying them
// and without holding a lock while the loop body runs.
func (l *Lease[T]) All() iter.Seq[T] { return l.informer.Load().All() }

// ListNamespace returns the objects of one namespace, in no particular order,
// nil if there are none. The slice is the caller's.
func (l *Lease[T]) ListNamespace(namespace string) []T {
	return l.informer.Load().ListNamespace(namespace)
}

// Namespace ranges over the objects of one namespace.
func (l *Lease[T]) Namespace(namespace string) iter.Seq[T] {
	return l.informer.Load().Namespace(namespace)
}

// Candidates ranges over the objects that the indexes cannot rule out for a
// namespace and a selector, see index.Reader.
func (l *Lease[T]) Candidates(namespace string, selector labels.Selector) iter.Seq[T] {
	return l.informer.Load().Candidates(namespace, selector)
}

// Keys ranges over the keys of all objects, in no particular order.
func (l *Lease[T]) Keys() iter.Seq[index.Key] { return l.informer.Load().Keys() }

// ResourceVersion returns the version that reads reflect at least, "" before
// the first list.
func (l *Lease[T]) ResourceVersion() string { return l.informer.Load().ResourceVersion() }

// Snapshot returns the current state, which then stays as it is.
func (l *Lease[T]) Snapshot() *index.Snapshot[T] { return l.informer.Load().Snapshot() }

// Err returns nil until Release, which is as long as there is something to read
// from, and then ErrReleased; see Informer.Err.
func (l *Lease[T]) Err() error { return l.informer.Load().Err() }

// ExpectVersion returns what tells when reads reflect a version, see
// Informer.ExpectVersion.
func (l *Lease[T]) ExpectVersion(version string) (Expected, error) {
	return l.informer.Load().ExpectVersion(version)
}

// ExpectDeleted returns what tells when reads reflect a deletion, see
// Informer.ExpectDeleted.
func (l *Lease[T]) ExpectDeleted(obj Identified) (Expected, error) {
	return l.informer.Load().ExpectDeleted(obj)
}
