package typed

import (
	"iter"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// Get returns the object of key, false if there is none.
func (i *Informer[T]) Get(key index.Key) (T, bool) { return i.store.Get(key) }

// Rejected reports what was wrong with the state of an object that was received last, if it
// could not be used, so that what Get returns for the key is an earlier state or nothing;
// otherwise it returns nil. See source.RejectedError.
func (i *Informer[T]) Rejected(key index.Key) *source.RejectedError {
	return i.health.rejections.of(key)
}

// Len returns the number of objects.
func (i *Informer[T]) Len() int { return i.store.Len() }

// List returns all objects, in no particular order, nil if there are none. The
// slice is the caller's.
func (i *Informer[T]) List() []T { return i.store.List() }

// All ranges over all objects, in no particular order, without copying them
// and without holding a lock while the loop body runs.
func (i *Informer[T]) All() iter.Seq[T] { return i.store.All() }

// ListNamespace returns the objects of one namespace, in no particular order,
// nil if there are none. The slice is the caller's.
func (i *Informer[T]) ListNamespace(namespace string) []T { return i.store.ListNamespace(namespace) }

// InNamespace ranges over the objects of one namespace.
func (i *Informer[T]) InNamespace(namespace string) iter.Seq[T] {
	return i.store.InNamespace(namespace)
}

// Candidates ranges over the objects that the indexes cannot rule out for a
// namespace and a selector, see index.Reader.
func (i *Informer[T]) Candidates(namespace string, selector labels.Selector) iter.Seq[T] {
	return i.store.Candidates(namespace, selector)
}

// Keys ranges over the keys of all objects, in no particular order.
func (i *Informer[T]) Keys() iter.Seq[index.Key] { return i.store.Keys() }

// ResourceVersion returns the version that reads reflect at least, "" before
// the first list.
func (i *Informer[T]) ResourceVersion() string { return i.store.ResourceVersion() }

// Snapshot returns the current state, which then stays as it is.
func (i *Informer[T]) Snapshot() *index.Snapshot[T] { return i.store.Snapshot() }
