package adapters

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// ResourceFactory is the part of a generated informer factory that is needed to
// find the informer of a resource. Every informers.SharedInformerFactory has it, those
// that informer-gen makes for other APIs too. I is the type of what
// ForResource returns there, which the compiler infers.
type ResourceFactory[I GenericInformer] interface {
	ForResource(resource schema.GroupVersionResource) (I, error)
}

// DynamicFactory is the same of a factory that knows any resource: client-go's
// dynamicinformer.DynamicSharedInformerFactory, and the SharedInformerFactory
// of its package metadatainformer.
type DynamicFactory[I GenericInformer] interface {
	ForResource(resource schema.GroupVersionResource) I
}

// GenericInformer is the part of client-go's informers.GenericInformer that is
// needed.
type GenericInformer interface {
	Informer() cache.SharedIndexInformer
}

// FromFactory returns a source over the shared informer that a generated factory
// has for a resource, see FromShared:
//
//	source := adapters.FromFactory[*corev1.Pod](factory, corev1.SchemeGroupVersion.WithResource("pods"))
//
// The factory is asked for the informer at once, so that it starts it with the others; it is
// started by its owner. If it does not know the resource, Run returns the factory's error, and
// WaitForSync reports it.
func FromFactory[T index.Object, I GenericInformer](factory ResourceFactory[I], resource schema.GroupVersionResource) source.Source[T] {
	if factory == nil {
		return failedSource[T](resource, errors.New("factory is nil"))
	}
	informer, err := factory.ForResource(resource)
	if err != nil {
		return failedSource[T](resource, err)
	}
	return fromGeneric[T](informer, resource)
}

// FromDynamicFactory does as FromFactory, with a factory that knows any
// resource. Its objects are of type *unstructured.Unstructured if it is a
// dynamic one, and *metav1.PartialObjectMetadata if it is one for metadata:
//
//	source := adapters.FromDynamicFactory[*unstructured.Unstructured](factory, resource)
//
// That the server does not have the resource shows when the shared informer
// lists it: it does not sync.
func FromDynamicFactory[T index.Object, I GenericInformer](factory DynamicFactory[I], resource schema.GroupVersionResource) source.Source[T] {
	if factory == nil {
		return failedSource[T](resource, errors.New("factory is nil"))
	}
	return fromGeneric[T](factory.ForResource(resource), resource)
}

func fromGeneric[T index.Object](informer GenericInformer, resource schema.GroupVersionResource) source.Source[T] {
	if informer == nil {
		return failedSource[T](resource, errors.New("the factory has no informer for it"))
	}
	return newSharedSource[T](informer.Informer(), source.Origin{Resource: resource})
}

func failedSource[T index.Object](resource schema.GroupVersionResource, err error) source.Source[T] {
	return &sharedSource[T]{origin: source.Origin{Resource: resource}, err: fmt.Errorf("no shared informer of %v for resource %v: %w", reflect.TypeFor[T](), resource, err)}
}
