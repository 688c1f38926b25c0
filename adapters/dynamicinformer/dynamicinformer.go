// Package dynamicinformer is client-go's package dynamic/dynamicinformer, with
// informers that stand on the typed core. A program changes over with its import.
//
// The informers are those of adapters.NewSharedIndexInformer. Their objects are
// of type *unstructured.Unstructured, or what a transform makes of those.
package dynamicinformer

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
)

// DynamicSharedInformerFactory is client-go's.
type DynamicSharedInformerFactory = dynamicinformer.DynamicSharedInformerFactory

// TweakListOptionsFunc is client-go's.
type TweakListOptionsFunc = dynamicinformer.TweakListOptionsFunc

// NewDynamicSharedInformerFactory returns a factory whose informers are for all
// namespaces.
func NewDynamicSharedInformerFactory(client dynamic.Interface, defaultResync time.Duration) DynamicSharedInformerFactory {
	return NewFilteredDynamicSharedInformerFactory(client, defaultResync, metav1.NamespaceAll, nil)
}

// NewFilteredDynamicSharedInformerFactory returns a factory whose informers are
// for a namespace. Unless tweak is nil, it changes the options of each list and
// watch.
func NewFilteredDynamicSharedInformerFactory(client dynamic.Interface, defaultResync time.Duration, namespace string, tweak TweakListOptionsFunc) DynamicSharedInformerFactory {
	return resourcefactory.New(func(resource schema.GroupVersionResource) informers.GenericInformer {
		indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
		return NewFilteredDynamicInformer(client, resource, namespace, defaultResync, indexers, tweak)
	})
}

// NewFilteredDynamicInformer returns the informer of a resource in a namespace.
// Unless tweak is nil, it changes the options of each list and watch.
func NewFilteredDynamicInformer(client dynamic.Interface, resource schema.GroupVersionResource, namespace string, resync time.Duration, indexers cache.Indexers, tweak TweakListOptionsFunc) informers.GenericInformer {
	lw := listwatch.New(func() listwatch.Client[*unstructured.UnstructuredList] {
		return client.Resource(resource).Namespace(namespace)
	}, client, tweak)
	return &generic{resource, adapters.NewSharedIndexInformerWithOptions(lw, &unstructured.Unstructured{}, cache.SharedIndexInformerOptions{
		ResyncPeriod:      resync,
		Indexers:          indexers,
		ObjectDescription: resource.String(),
	})}
}

// generic is the informer of a resource.
type generic struct {
	resource schema.GroupVersionResource
	informer cache.SharedIndexInformer
}

// Informer implements informers.GenericInformer.
func (g *generic) Informer() cache.SharedIndexInformer { return g.informer }

// Lister implements informers.GenericInformer.
func (g *generic) Lister() cache.GenericLister {
	return dynamiclister.NewRuntimeObjectShim(dynamiclister.New(g.informer.GetIndexer(), g.resource))
}
