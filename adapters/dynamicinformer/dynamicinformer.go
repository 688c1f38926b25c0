// Package dynamicinformer is client-go's package dynamic/dynamicinformer, with
// informers that stand on the typed core. A program changes over with its import.
//
// The informers are those of adapters.NewSharedIndexInformer. Their objects are
// of type *unstructured.Unstructured, or what a transform makes of those.
package dynamicinformer

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/dynamic/dynamiclister"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/adapters/internal/listwatch"
	"github.com/kubetyped/informer/adapters/internal/resourcefactory"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// DynamicSharedInformerFactory is client-go's.
type DynamicSharedInformerFactory = dynamicinformer.DynamicSharedInformerFactory

// TweakListOptionsFunc is client-go's.
type TweakListOptionsFunc = dynamicinformer.TweakListOptionsFunc

// SharedInformerOption is an option of a factory.
type SharedInformerOption func(*options)

type options struct {
	namespace string
	tweak     TweakListOptionsFunc
	sharing   bool
	writes    *kube.Writes
	following listwatch.Following[schema.GroupVersionResource]
	packed    listwatch.Packed[schema.GroupVersionResource]
}

// WithNamespace limits the informers to a namespace.
func WithNamespace(namespace string) SharedInformerOption {
	return func(o *options) { o.namespace = namespace }
}

// WithNamespaces makes informers follow a set of namespaces, which means what it does in package
// informers, for the resources, or for all without any. Without any, those of the factory have to
// be in namespaces: a request for another one is not found. List of a lister of one namespace
// returns an error where Get does.
func WithNamespaces(set *source.Namespaces, resources ...schema.GroupVersionResource) SharedInformerOption {
	return func(o *options) { o.following.Follow(set, resources...) }
}

// WithOutOfScopeDeletions makes informers call handlers with the deletions of a namespace's
// objects when it leaves the set of WithNamespaces. The objects may exist still.
func WithOutOfScopeDeletions() SharedInformerOption {
	return func(o *options) { o.following.OutOfScope = true }
}

// WithTweakListOptions makes a function change the options of each list and watch.
func WithTweakListOptions(tweak TweakListOptionsFunc) SharedInformerOption {
	return func(o *options) { o.tweak = tweak }
}

// WithDeduplication enables deduplication, which means what it does in package informers. The
// default is off. The client's requests have to be made by a kube.DecodingTransport:
//
//	config.Wrap(kube.DecodingTransport) // before dynamic.NewForConfig(config)
//
// Otherwise objects are decoded by the client, as without the option, and the log says so once
// for each informer. It has no effect on informers with a transform function.
func WithDeduplication() SharedInformerOption { return func(o *options) { o.sharing = true } }

// WithOwnWrites makes the informers take the answers to the program's own writes, before the
// watch brings them, which means what it does in package informers. Writes by other clients
// than dynamic ones have to be answered in JSON: protobuf is left to the watch.
func WithOwnWrites(w *kube.Writes) SharedInformerOption { return func(o *options) { o.writes = w } }

// NewDynamicSharedInformerFactory returns a factory whose informers are for all
// namespaces.
func NewDynamicSharedInformerFactory(client dynamic.Interface, defaultResync time.Duration) DynamicSharedInformerFactory {
	return NewDynamicSharedInformerFactoryWithOptions(client, defaultResync)
}

// NewFilteredDynamicSharedInformerFactory returns a factory whose informers are
// for a namespace. Unless tweak is nil, it changes the options of each list and
// watch.
func NewFilteredDynamicSharedInformerFactory(client dynamic.Interface, defaultResync time.Duration, namespace string, tweak TweakListOptionsFunc) DynamicSharedInformerFactory {
	return NewDynamicSharedInformerFactoryWithOptions(client, defaultResync, WithNamespace(namespace), WithTweakListOptions(tweak))
}

// NewDynamicSharedInformerFactoryWithOptions returns a factory whose informers are for all
// namespaces, unless an option says otherwise.
func NewDynamicSharedInformerFactoryWithOptions(client dynamic.Interface, defaultResync time.Duration, opts ...SharedInformerOption) DynamicSharedInformerFactory {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	return resourcefactory.New(func(resource schema.GroupVersionResource) informers.GenericInformer {
		indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
		return newGeneric(client, resource, defaultResync, indexers, o)
	})
}

// NewFilteredDynamicInformer returns the informer of a resource in a namespace.
// Unless tweak is nil, it changes the options of each list and watch.
func NewFilteredDynamicInformer(client dynamic.Interface, resource schema.GroupVersionResource, namespace string, resync time.Duration, indexers cache.Indexers, tweak TweakListOptionsFunc) informers.GenericInformer {
	return newGeneric(client, resource, resync, indexers, options{namespace: namespace, tweak: tweak})
}

func newGeneric(client dynamic.Interface, resource schema.GroupVersionResource, resync time.Duration, indexers cache.Indexers, o options) *generic {
	example := &unstructured.Unstructured{}
	spaces := o.following.Of(resource)
	if spaces != nil {
		spaces.Packed = o.packed.Has(resource)
	}
	lw := listwatch.InNamespaces(spaces, o.namespace, func(namespace string) cache.ListerWatcher {
		in := func() listwatch.Client[*unstructured.UnstructuredList] {
			return client.Resource(resource).Namespace(namespace)
		}
		lw := listwatch.NewResource(in, client, resource, example, o.sharing, o.tweak)
		if o.packed.Has(resource) {
			lw = listwatch.NewPackingResource(in, client, resource, example, o.tweak)
		}
		if o.writes != nil {
			lw = listwatch.NewWriting(lw, o.writes, example, resource.GroupVersion().WithKind(""))
		}
		return lw
	})
	return &generic{resource, adapters.NewSharedIndexInformerWithOptions(lw, example, cache.SharedIndexInformerOptions{
		ResyncPeriod:      resync,
		Indexers:          indexers,
		ObjectDescription: resource.String(),
	}), spaces != nil}
}

// generic is the informer of a resource.
type generic struct {
	resource schema.GroupVersionResource
	informer cache.SharedIndexInformer
	scoped   bool // of some namespaces
}

// Informer implements informers.GenericInformer.
func (g *generic) Informer() cache.SharedIndexInformer { return g.informer }

// Lister implements informers.GenericInformer.
func (g *generic) Lister() cache.GenericLister {
	lister := dynamiclister.NewRuntimeObjectShim(dynamiclister.New(g.informer.GetIndexer(), g.resource))
	if g.scoped {
		return listwatch.NamespaceErrors(lister, g.informer.GetIndexer())
	}
	return lister
}

// WithPacked keeps objects as bytes, which means what it does in package informers: those of the
// resources, or all without any. The client's requests have to be made by a
// kube.DecodingTransport:
//
//	config.Wrap(kube.DecodingTransport) // before dynamic.NewForConfig(config)
//
// Otherwise objects are kept whole, as without the option, and each informer reports that once to
// utilruntime.HandleError. It replaces WithDeduplication for these resources.
func WithPacked(resources ...schema.GroupVersionResource) SharedInformerOption {
	return func(o *options) { o.packed.Pack(resources...) }
}
