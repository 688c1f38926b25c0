// Package metadatainformer is client-go's package metadata/metadatainformer, with
// informers that stand on the typed core. A program changes over with its import.
//
// The informers are those of adapters.NewSharedIndexInformer. Their objects are
// of type *metav1.PartialObjectMetadata, or what a transform makes of those.
package metadatainformer

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/metadata/metadatalister"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/adapters/internal/listwatch"
	"github.com/kubetyped/informer/adapters/internal/resourcefactory"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// SharedInformerFactory is client-go's.
type SharedInformerFactory = metadatainformer.SharedInformerFactory

// TweakListOptionsFunc is client-go's.
type TweakListOptionsFunc = metadatainformer.TweakListOptionsFunc

// SharedInformerOption is an option of a factory. Those of client-go are
// functions of a type that is not exported, so there are the same ones here.
type SharedInformerOption func(*options)

type options struct {
	listwatch.Options
	transform cache.TransformFunc
}

// WithTransform sets the transform of all informers.
func WithTransform(transform cache.TransformFunc) SharedInformerOption {
	return func(o *options) { o.transform = transform }
}

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
//	config.Wrap(kube.DecodingTransport) // before metadata.NewForConfig(config)
//
// Otherwise objects are decoded by the client, and the log says so once for each informer. It has
// no effect on informers with a transform function.
func WithDeduplication() SharedInformerOption { return func(o *options) { o.Sharing = true } }

// WithOwnWrites makes the informers take the answers to the program's own writes, before the
// watch brings them, which means what it does in package informers. Answers to clients of any
// kind are taken.
func WithOwnWrites(w *kube.Writes) SharedInformerOption { return func(o *options) { o.Writes = w } }

// NewSharedInformerFactory returns a factory whose informers are for all
// namespaces.
func NewSharedInformerFactory(client metadata.Interface, defaultResync time.Duration) SharedInformerFactory {
	return NewSharedInformerFactoryWithOptions(client, defaultResync)
}

// NewFilteredSharedInformerFactory returns a factory whose informers are for a
// namespace. Unless tweak is nil, it changes the options of each list and watch.
func NewFilteredSharedInformerFactory(client metadata.Interface, defaultResync time.Duration, namespace string, tweak TweakListOptionsFunc) SharedInformerFactory {
	return NewSharedInformerFactoryWithOptions(client, defaultResync, WithNamespace(namespace), WithTweakListOptions(tweak))
}

// NewSharedInformerFactoryWithOptions returns a factory whose informers are for all
// namespaces, unless an option says otherwise.
func NewSharedInformerFactoryWithOptions(client metadata.Interface, defaultResync time.Duration, opts ...SharedInformerOption) SharedInformerFactory {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	return resourcefactory.New(func(resource schema.GroupVersionResource) informers.GenericInformer {
		indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
		g := newGeneric(client, resource, defaultResync, indexers, o)
		// It fails only if the informer runs already.
		_ = g.Shared.SetTransform(o.transform)
		return g
	})
}

// NewFilteredMetadataInformer returns the informer of a resource in a namespace.
// Unless tweak is nil, it changes the options of each list and watch.
func NewFilteredMetadataInformer(client metadata.Interface, resource schema.GroupVersionResource, namespace string, resync time.Duration, indexers cache.Indexers, tweak TweakListOptionsFunc) informers.GenericInformer {
	return newGeneric(client, resource, resync, indexers, options{Options: listwatch.Options{Namespace: namespace, Tweak: tweak}})
}

func newGeneric(client metadata.Interface, resource schema.GroupVersionResource, resync time.Duration, indexers cache.Indexers, o options) *listwatch.Informer {
	example := &metav1.PartialObjectMetadata{}
	in := func(namespace string) listwatch.Client[*metav1.PartialObjectMetadataList] {
		return client.Resource(resource).Namespace(namespace)
	}
	lw, scoped := listwatch.NewResource(o.Options, in, client, resource, example)
	if o.transform != nil && o.Packed.Has(resource) {
		lw = listwatch.Broken(listwatch.ErrTransformed)
	}
	return &listwatch.Informer{
		Shared: adapters.NewSharedIndexInformer(lw, example, resync, indexers),
		Listing: func(of cache.Indexer) cache.GenericLister {
			return metadatalister.NewRuntimeObjectShim(metadatalister.New(of, resource))
		},
		Scoped: scoped,
	}
}

// WithPacked keeps objects as bytes, which means what it does in package informers: those of the
// resources, or all without any. The client's requests have to be made by a
// kube.DecodingTransport:
//
//	config.Wrap(kube.DecodingTransport) // before metadata.NewForConfig(config)
//
// Otherwise objects are kept whole, as without the option, and each informer reports that once to
// utilruntime.HandleError. It replaces WithDeduplication for these resources.
func WithPacked(resources ...schema.GroupVersionResource) SharedInformerOption {
	return func(o *options) { o.Packed.Pack(resources...) }
}
