package fleet

import (
	"errors"
	"fmt"
	"iter"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/lister"
)

// ByCluster returns an index of objects by the name of their cluster, for Listers and
// look-ups of a program's own. It has to be added to the informer.
func ByCluster[T Object]() *index.Index[string, InCluster[T]] {
	return index.Single("cluster", func(obj InCluster[T]) (string, bool) { return obj.Cluster(), true })
}

// Lister reads the objects of one cluster, as if there were no others: by the namespaces
// and names that they have there. Package lister reads those of all clusters.
//
// The objects are shared and must not be modified; the slices are the caller's. It is safe
// for concurrent use.
type Lister[T Object] struct {
	from      index.Reader[InCluster[T]]
	byCluster *index.Index[string, InCluster[T]]
	cluster   string
}

// NewLister returns a lister of the objects of a cluster. The index is one that ByCluster
// has returned and that was added to the informer that is read from.
func NewLister[T Object](from index.Reader[InCluster[T]], byCluster *index.Index[string, InCluster[T]], cluster string) *Lister[T] {
	return &Lister[T]{from, byCluster, cluster}
}

// List returns the objects that selector matches, in no particular order, nil if there are
// none. A nil selector matches everything. The error is nil, or wraps index.ErrReleased, or says
// that labels are left out of the objects of a cluster.
func (l *Lister[T]) List(selector labels.Selector) (found []T, err error) {
	if err := l.check(selector); err != nil {
		return nil, err
	}
	defer recoverReleased(l.cluster, &err)
	for obj := range l.All(selector) {
		found = append(found, obj)
	}
	return found, nil
}

// All ranges over the objects that selector matches, in no particular order, without
// holding a lock while the loop body runs. A nil selector matches everything. It panics where
// List returns an error.
func (l *Lister[T]) All(selector labels.Selector) iter.Seq[T] {
	if err := l.check(selector); err != nil {
		panic(err)
	}
	return func(yield func(T) bool) {
		for obj := range l.byCluster.All(l.cluster) {
			if (selector == nil || selector.Matches(labels.Set(obj.GetLabels()))) && !yield(obj.Object) {
				return
			}
		}
	}
}

// check returns an error if a selector would match nothing, since objects are known to have no
// labels.
func (l *Lister[T]) check(selector labels.Selector) error {
	if selector == nil || selector.Empty() {
		return nil
	}
	if from, ok := l.from.(interface{ Omits(field string) bool }); ok && from.Omits("metadata.labels") {
		return fmt.Errorf("list of cluster %s: selector %q: a source of the fleet leaves metadata.labels out of the objects; name it in kube.WithFields", l.cluster, selector)
	}
	return nil
}

// Len returns how many objects there are.
func (l *Lister[T]) Len() int { return l.byCluster.Len(l.cluster) }

// Get returns the cluster-scoped object with the given name. Its error satisfies
// apierrors.IsNotFound if there is none, or wraps index.ErrReleased.
func (l *Lister[T]) Get(name string) (T, error) { return l.Namespace("").Get(name) }

// Namespace returns a lister for one namespace of the cluster; "" is that of cluster-scoped
// objects.
func (l *Lister[T]) Namespace(namespace string) NamespaceLister[T] {
	return NamespaceLister[T]{lister.New(l.from).Namespace(join(l.cluster, namespace))}
}

// NamespaceLister is a Lister for one namespace.
type NamespaceLister[T Object] struct {
	in lister.NamespaceLister[InCluster[T]]
}

// List is that of Lister.
func (l NamespaceLister[T]) List(selector labels.Selector) ([]T, error) {
	found, err := l.in.List(selector)
	if len(found) == 0 {
		return nil, err
	}
	objs := make([]T, len(found))
	for i := range found {
		objs[i] = found[i].Object
	}
	return objs, err
}

// All is that of Lister.
func (l NamespaceLister[T]) All(selector labels.Selector) iter.Seq[T] {
	return func(yield func(T) bool) {
		for obj := range l.in.All(selector) {
			if !yield(obj.Object) {
				return
			}
		}
	}
}

// Get returns the object with the given name, with the errors of Lister.Get.
func (l NamespaceLister[T]) Get(name string) (T, error) {
	obj, err := l.in.Get(name)
	return obj.Object, err
}

// recoverReleased makes the panic of a released store the error of a read.
func recoverReleased(cluster string, err *error) {
	p := recover()
	if p == nil {
		return
	}
	released, ok := p.(error)
	if !ok || !errors.Is(released, index.ErrReleased) {
		panic(p)
	}
	*err = fmt.Errorf("list of cluster %s: %w", cluster, released)
}
