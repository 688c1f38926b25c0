package fleet

import (
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
)

// Object is what fleets are made of: pointers to API types, and your own structs that
// embed metav1.ObjectMeta. These are the methods that indexes, listers, views and
// controllers ask for, which InCluster passes on; so what cannot be done with an object
// of T does not compile for one of InCluster[T] either.
//
// Projections that know less are made of a [Source], by source.Map and source.FilterMap.
type Object interface {
	index.Labeled

	GetUID() types.UID
	GetResourceVersion() string
	GetGeneration() int64
	GetAnnotations() map[string]string
	GetFinalizers() []string
	GetOwnerReferences() []metav1.OwnerReference
	GetCreationTimestamp() metav1.Time
	GetDeletionTimestamp() *metav1.Time
}

// InCluster is an object with the cluster that it is in: two words, which are compared,
// copied and used as a map key like one. All objects of a namespace of a cluster share
// its name, so the cluster costs an object 8 bytes.
type InCluster[T Object] struct {
	at unique.Handle[place] // zero: none

	// Object is the object as the cluster has it, shared with all its readers. It must
	// not be modified.
	Object T
}

// In returns an object with the cluster that it is in, as sources of fleets make them, for
// tests and for your own sources. The object must not be nil.
func In[T Object](cluster string, obj T) InCluster[T] {
	return InCluster[T]{newPlace(cluster, obj.GetNamespace()), obj}
}

// Cluster returns the name of the cluster.
func (o InCluster[T]) Cluster() string { return valueOf(o.at).cluster }

// Namespace returns the namespace in the cluster, "" if the object is cluster-scoped.
func (o InCluster[T]) Namespace() string { return valueOf(o.at).namespace }

// GetNamespace returns what stands for cluster and namespace in keys, see [Key].
func (o InCluster[T]) GetNamespace() string { return valueOf(o.at).joined }

// GetName returns the object's name.
func (o InCluster[T]) GetName() string { return o.Object.GetName() }

// GetUID returns the object's UID.
func (o InCluster[T]) GetUID() types.UID { return o.Object.GetUID() }

// GetResourceVersion returns the object's version, which cannot be compared with one of
// another cluster.
func (o InCluster[T]) GetResourceVersion() string { return o.Object.GetResourceVersion() }

// GetGeneration returns the object's generation.
func (o InCluster[T]) GetGeneration() int64 { return o.Object.GetGeneration() }

// GetLabels returns the object's labels, which must not be modified.
func (o InCluster[T]) GetLabels() map[string]string { return o.Object.GetLabels() }

// GetAnnotations returns the object's annotations, which must not be modified.
func (o InCluster[T]) GetAnnotations() map[string]string { return o.Object.GetAnnotations() }

// GetFinalizers returns the object's finalizers, which must not be modified.
func (o InCluster[T]) GetFinalizers() []string { return o.Object.GetFinalizers() }

// GetOwnerReferences returns the object's owners, which are in the same cluster.
func (o InCluster[T]) GetOwnerReferences() []metav1.OwnerReference {
	return o.Object.GetOwnerReferences()
}

// GetCreationTimestamp returns when the object was created.
func (o InCluster[T]) GetCreationTimestamp() metav1.Time { return o.Object.GetCreationTimestamp() }

// GetDeletionTimestamp returns when the object was asked to go, nil if it was not.
func (o InCluster[T]) GetDeletionTimestamp() *metav1.Time { return o.Object.GetDeletionTimestamp() }

// String returns the object's key.
func (o InCluster[T]) String() string {
	var none T
	if index.Same(o.Object, none) {
		return o.GetNamespace() + "/"
	}
	return index.KeyOf(o).String()
}
