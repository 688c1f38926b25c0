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

type options struct{ listwatch.Options }

// WithNamespace limits the informers to a namespace.
func WithNamespace(namespace string) SharedInformerOption {
	return func(o *options) { o.Namespace = namespace }
}

// WithNamespaces makes informers follow a set of namespaces, which means what it does in package
// informers, for the resources, or for all without any. Without any, those of the factory have to
// be in namespaces: a request for another one is not found. List of a lister of one namespace
// returns an error where Get does.
func WithNamespaces(set *source.Namespaces, resources ...schema.GroupVersionResource) SharedInformerOption {
	return func(o *options) { o.Following.Follow(set, resources...) }
}

// WithOutOfScopeDeletions makes informers call handlers with the deletions of a namespace's
// objects when it leaves the set of WithNamespaces. The objects may exist still.
func WithOutOfScopeDeletions() SharedInformerOption {
	return func(o *options) { o.Following.OutOfScope = true }
}

// WithTweakListOptions makes a function change the options of each list and watch.
func WithTweakListOptions(tweak TweakListOptionsFunc) SharedInformerOption {
	return func(o *options) { o.Tweak = tweak }
}

// WithDeduplication enables deduplication, which means what it does in package informers. The
// default is off. The client's requests have to be made by a kube.DecodingTransport:
//
//	config.Wrap(kube.DecodingTransport) // before dynamic.NewForConfig(config)
//
// Otherwise objects are decoded by the client, and the log says so once for each informer. It has
// no effect on informers with a transform function.
func WithDeduplication() SharedInformerOption { return func(o *options) { o.Sharing = true } }

// WithOwnWrites makes the informers take the answers to the program's own writes, before the
// watch brings them, which means what it does in package informers. Writes by other clients
// than dynamic ones have to be answered in JSON: protobuf is left to the watch.
func WithOwnWrites(w *kube.Writes) SharedInformerOption { return func(o *options) { o.Writes = w } }

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
	return newGeneric(client, resource, resync, indexers, options{Options: listwatch.Options{Namespace: namespace, Tweak: tweak}})
}

func newGeneric(client dynamic.Interface, resource schema.GroupVersionResource, resync time.Duration, indexers cache.Indexers, o options) *listwatch.Informer {
	example := &unstructured.Unstructured{}
	in := func(namespace string) listwatch.Client[*unstructured.UnstructuredList] {
		return client.Resource(resource).Namespace(namespace)
	}
	lw, scoped := listwatch.NewResource(o.Options, in, client, resource, example)
	return &listwatch.Informer{
		Shared: adapters.NewSharedIndexInformerWithOptions(lw, example, cache.SharedIndexInformerOptions{
			ResyncPeriod:      resync,
			Indexers:          indexers,
			ObjectDescription: resource.String(),
		}),
		Listing: func(of cache.Indexer) cache.GenericLister {
			return dynamiclister.NewRuntimeObjectShim(dynamiclister.New(of, resource))
		},
		Scoped: scoped,
	}
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
	return func(o *options) { o.Packed.Pack(resources...) }
}
