package typed

import (
	"iter"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// Name returns the informer's name.
func (s *SharedInformer[T]) Name() string { return s.informer.Load().Name() }

// GroupResource returns what errors call the objects, see Informer.GroupResource.
func (s *SharedInformer[T]) GroupResource() schema.GroupResource {
	return s.informer.Load().GroupResource()
}

// Synced returns a channel that is closed when the store holds the first list.
// After Release it is one that is never closed.
func (s *SharedInformer[T]) Synced() <-chan struct{} { return s.informer.Load().Synced() }

// Status reports on the informer.
func (s *SharedInformer[T]) Status() Status { return s.informer.Load().Status() }

// Get returns the object of key, false if there is none.
func (s *SharedInformer[T]) Get(key index.Key) (T, bool) { return s.informer.Load().Get(key) }

// Rejected reports what was wrong with the latest state of an object, see Informer.Rejected.
func (s *SharedInformer[T]) Rejected(key index.Key) *source.RejectedError {
	return s.informer.Load().Rejected(key)
}

// Len returns the number of objects.
func (s *SharedInformer[T]) Len() int { return s.informer.Load().Len() }

// List returns all objects, in no particular order, nil if there are none. The
// slice is the caller's.
func (s *SharedInformer[T]) List() []T { return s.informer.Load().List() }

// All ranges over all objects, in no particular order, without copying them
// and without holding a lock while the loop body runs.
func (s *SharedInformer[T]) All() iter.Seq[T] { return s.informer.Load().All() }

// ListNamespace returns the objects of one namespace, in no particular order,
// nil if there are none. The slice is the caller's.
func (s *SharedInformer[T]) ListNamespace(namespace string) []T {
	return s.informer.Load().ListNamespace(namespace)
}

// InNamespace ranges over the objects of one namespace.
func (s *SharedInformer[T]) InNamespace(namespace string) iter.Seq[T] {
	return s.informer.Load().InNamespace(namespace)
}

// Candidates ranges over the objects that the indexes cannot rule out for a
// namespace and a selector, see index.Reader.
func (s *SharedInformer[T]) Candidates(namespace string, selector labels.Selector) iter.Seq[T] {
	return s.informer.Load().Candidates(namespace, selector)
}

// Keys ranges over the keys of all objects, in no particular order.
func (s *SharedInformer[T]) Keys() iter.Seq[index.Key] { return s.informer.Load().Keys() }

// ResourceVersion returns the version that reads reflect at least, "" before
// the first list.
func (s *SharedInformer[T]) ResourceVersion() string { return s.informer.Load().ResourceVersion() }

// Snapshot returns the current state, which then stays as it is.
func (s *SharedInformer[T]) Snapshot() *index.Snapshot[T] { return s.informer.Load().Snapshot() }

// Err returns nil until Release, which is as long as there is something to read
// from, and then index.ErrReleased; see Informer.Err.
func (s *SharedInformer[T]) Err() error { return s.informer.Load().Err() }

// ExpectVersion returns what reports when reads reflect a version, see Informer.ExpectVersion.
func (s *SharedInformer[T]) ExpectVersion(version string) (Expected, error) {
	return s.informer.Load().ExpectVersion(version)
}

// ExpectKeyVersion returns what reports when reads of one object reflect a version, see
// Informer.ExpectKeyVersion.
func (s *SharedInformer[T]) ExpectKeyVersion(key index.Key, version string) (Expected, error) {
	return s.informer.Load().ExpectKeyVersion(key, version)
}

// ExpectDeleted returns what reports when reads reflect a deletion, see
// Informer.ExpectDeleted.
func (s *SharedInformer[T]) ExpectDeleted(obj Identified) (Expected, error) {
	return s.informer.Load().ExpectDeleted(obj)
}
