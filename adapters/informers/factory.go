package informers

import (
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// SharedInformerFactory is client-go's.
type SharedInformerFactory = informers.SharedInformerFactory

// GenericInformer is client-go's.
type GenericInformer = informers.GenericInformer

// NewSharedInformerFactory returns a factory whose informers are for all
// namespaces.
func NewSharedInformerFactory(client kubernetes.Interface, defaultResync time.Duration) SharedInformerFactory {
	return NewSharedInformerFactoryWithOptions(client, defaultResync)
}

// NewFilteredSharedInformerFactory returns a factory with the options
// WithNamespace and WithTweakListOptions.
//
// Deprecated: Use NewSharedInformerFactoryWithOptions, as with client-go.
func NewFilteredSharedInformerFactory(client kubernetes.Interface, defaultResync time.Duration, namespace string, tweak internalinterfaces.TweakListOptionsFunc) SharedInformerFactory {
	return NewSharedInformerFactoryWithOptions(client, defaultResync, WithNamespace(namespace), WithTweakListOptions(tweak))
}

// NewSharedInformerFactoryWithOptions returns a factory. It is client-go's own,
// which holds the informers, starts them, and waits for them; only what it makes
// is other informers:
//
//   - Informer, TypedInformer and Lister of a kind whose version is v1, v2 and so
//     on, and ForResource, are served by the typed core.
//   - Those of alpha and beta versions are client-go's informers.
//   - InformerFor calls the function that it is given, as in client-go. To have
//     the typed core there too, make the informer with adapters.NewClientInformer.
func NewSharedInformerFactoryWithOptions(client kubernetes.Interface, defaultResync time.Duration, opts ...SharedInformerOption) SharedInformerFactory {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	return &factory{informers.NewSharedInformerFactoryWithOptions(client, defaultResync, o.passed...), o}
}

// factory has client-go's factory make other informers. The groups that it does
// not have itself, since all of their versions are alpha or beta or they are new,
// are those of client-go's factory.
type factory struct {
	informers.SharedInformerFactory
	options
}

// ForResource returns the informer of a resource.
func (f *factory) ForResource(resource schema.GroupVersionResource) (GenericInformer, error) {
	k, ok := kinds().byResource[resource]
	if ok {
		f.InformerFor(k.example, k.newFunc(f)) // the next line finds it
	}
	if !ok && f.followsUnstable(resource) {
		return nil, fmt.Errorf("informer of %s: %w", resource, errUnstable)
	}
	generic, err := f.SharedInformerFactory.ForResource(resource)
	if err != nil || !ok || f.spacesOf(k) == nil {
		return generic, err
	}
	return scopedInformer{generic}, nil
}

// generated is the factory as generated code sees it: what that hands to
// InformerFor makes the informer that the kind has by default. It is another
// type than factory since what users hand to InformerFor makes what they want.
type generated struct{ *factory }

// InformerFor returns the informer for objects of the type of obj.
func (g generated) InformerFor(obj runtime.Object, makeInformer internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	if k, ok := kinds().byType[reflect.TypeOf(obj)]; ok {
		makeInformer = k.newFunc(g.factory)
	} else if g.following.Follows(reflect.TypeOf(obj)) {
		makeInformer = unstable(obj)
	} else if g.packed.Has(reflect.TypeOf(obj)) {
		makeInformer = wholly(makeInformer, obj)
	}
	return g.SharedInformerFactory.InformerFor(obj, makeInformer)
}
