package listwatch

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/typed/kube"
)

// Options are those of a factory by resource.
type Options struct {
	Namespace string
	Tweak     func(*metav1.ListOptions)
	Sharing   bool
	Writes    *kube.Writes
	Following Following[schema.GroupVersionResource]
	Packed    Packed[schema.GroupVersionResource]
}

// NewResource returns what lists and watches a resource whose objects have the type of an example,
// unstructured ones or their metadata, and whether it is limited to some namespaces. The client of
// a namespace belongs to a clientset. Objects are decoded here, deduplicated, and kept as bytes,
// only if the client makes its requests by a kube.DecodingTransport.
func NewResource[L runtime.Object](o Options, client func(namespace string) Client[L], clientset any, resource schema.GroupVersionResource, example runtime.Object) (lw cache.ListerWatcher, scoped bool) {
	spaces, packed := o.Following.Of(resource), o.Packed.Has(resource)
	if spaces != nil {
		spaces.Packed = packed
	}
	return InNamespaces(spaces, o.Namespace, func(namespace string) cache.ListerWatcher {
		lw := New(func() Client[L] { return client(namespace) }, clientset, o.Tweak)
		if packed {
			lw = NewPacking(lw, example, schema.GroupVersionKind{}, resource)
		} else {
			decodable := NewDecoding(lw, example, schema.GroupVersionKind{}, o.Sharing, kube.WithResource(resource))
			decodable.masked = false // the option leaves nothing out
			lw = decodable
		}
		if o.Writes != nil {
			lw = NewWriting(lw, o.Writes, example, resource.GroupVersion().WithKind(""))
		}
		return lw
	}), spaces != nil
}

// Informer is the informer of a resource.
type Informer struct {
	Shared cache.SharedIndexInformer
	// Listing returns the lister that client-go makes of an indexer.
	Listing func(cache.Indexer) cache.GenericLister
	// Scoped says that it is limited to some namespaces.
	Scoped bool
}

// Informer implements informers.GenericInformer.
func (i *Informer) Informer() cache.SharedIndexInformer { return i.Shared }

// Lister implements informers.GenericInformer.
func (i *Informer) Lister() cache.GenericLister {
	lister := i.Listing(i.Shared.GetIndexer())
	if i.Scoped {
		return NamespaceErrors(lister, i.Shared.GetIndexer())
	}
	return lister
}
