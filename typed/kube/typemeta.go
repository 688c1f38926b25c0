package kube

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
)

// WithTypeMeta makes FromREST and a Writer set apiVersion and kind of each object
// that they return, whether it comes by a list or a watch, and whatever the format. Otherwise Go types have
// neither, as with generated clients; *unstructured.Unstructured has them in any
// case. *metav1.PartialObjectMetadata gets those of the objects that it is the
// metadata of.
func WithTypeMeta() SourceOption {
	return func(c *sourceConfig) error {
		c.rest.options = append(c.rest.options, "WithTypeMeta")
		c.rest.typeMeta = true
		return nil
	}
}

// kinded is an object that knows its kind; everything that embeds
// metav1.TypeMeta is one.
type kinded interface{ GetObjectKind() schema.ObjectKind }

// checkTypeMeta returns an error if objects of a type cannot be given a kind.
func checkTypeMeta(of reflect.Type) error {
	if !kindType(of).Implements(reflect.TypeFor[kinded]()) {
		return fmt.Errorf("WithTypeMeta needs objects with a kind, and %v does not embed metav1.TypeMeta", of)
	}
	return nil
}

// stamp returns a function that sets the kind of an object, to nothing if the
// kind is empty.
func stamp[T index.Object](kind schema.GroupVersionKind) func(T) {
	if packedIn(reflect.TypeFor[T]()) != nil {
		if kind.Empty() {
			return func(T) {}
		}
		return func(obj T) { any(obj).(packable).nameKind(kind, true) }
	}
	of := reflect.TypeFor[T]()
	if of == reflect.TypeFor[*unstructured.Unstructured]() || !of.Implements(reflect.TypeFor[kinded]()) {
		return func(T) {}
	}
	return func(obj T) { any(obj).(kinded).GetObjectKind().SetGroupVersionKind(kind) }
}

// stampOfEvents is stamp for objects of events, which come with their kind.
func stampOfEvents[T index.Object](kind schema.GroupVersionKind) func(T) {
	set := stamp[T](kind)
	if packedIn(reflect.TypeFor[T]()) == nil {
		return set
	}
	return func(obj T) {
		any(obj).(packable).asEvent()
		set(obj)
	}
}
