package informers

import (
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/adapters/internal/listwatch"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
)

// kind is a kind of objects.
type kind struct {
	resource   schema.GroupVersionResource
	example    runtime.Object // an empty one
	namespaced bool           // its objects are in namespaces
	// listWatch returns what lists and watches in a namespace.
	listWatch func(clientset kubernetes.Interface, namespace string, tweak internalinterfaces.TweakListOptionsFunc) *listwatch.Decodable
}

// newFunc returns what makes the kind's informer for a factory, as the function
// does that client-go's generated code has for it.
func (k kind) newFunc(f *factory) internalinterfaces.NewInformerFunc {
	return func(clientset kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		spaces, packed := f.spacesOf(k), f.packed.Has(reflect.TypeOf(k.example))
		if spaces != nil {
			spaces.Packed = packed
		}
		lw := listwatch.InNamespaces(spaces, f.namespace, func(namespace string) cache.ListerWatcher {
			decodable := k.listWatch(clientset, namespace, f.tweak)
			decodable.Deduplicates = f.sharing
			var lw cache.ListerWatcher = decodable
			if packed {
				lw = decodable.Packing()
			}
			if f.writes != nil {
				lw = listwatch.NewWriting(lw, f.writes, k.example, kindOf(k.example))
			}
			return lw
		})
		if err := f.packingErr(packed); err != nil {
			lw = listwatch.Broken(err)
		}
		return adapters.NewSharedIndexInformerWithOptions(lw, k.example, cache.SharedIndexInformerOptions{
			ResyncPeriod: resync,
			Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
			Identifier:   f.InformerName().WithResource(k.label()),
		})
	}
}

// label returns the resource as it is called in metrics. client-go makes the
// plural by an s, as in networkpolicys, and dashboards have it so.
func (k kind) label() schema.GroupVersionResource {
	name := strings.ToLower(reflect.TypeOf(k.example).Elem().Name()) + "s"
	return k.resource.GroupVersion().WithResource(name)
}

// member is a kind of an API group, before it is known how to get from a
// clientset to the group's clients, which are a G. That is put off until
// something is listed: tests make factories without a clientset.
type member[G any] func(clients func(kubernetes.Interface) G) kind

// namespaced returns the kind that a client for a namespace is for.
func namespaced[G any, C kube.Client[T, L], T index.Object, L runtime.Object](client func(group G, namespace string) C) member[G] {
	return func(clients func(kubernetes.Interface) G) kind {
		example := reflect.New(reflect.TypeFor[T]().Elem()).Interface().(runtime.Object)
		return kind{
			resource:   resourceOf(example),
			example:    example,
			namespaced: true,
			listWatch: func(clientset kubernetes.Interface, namespace string, tweak internalinterfaces.TweakListOptionsFunc) *listwatch.Decodable {
				return listwatch.NewDecodable(func() kube.Client[T, L] { return client(clients(clientset), namespace) }, clientset, false, tweak)
			},
		}
	}
}

// clusterWide returns the kind that a client is for whose objects are in no
// namespace.
func clusterWide[G any, C kube.Client[T, L], T index.Object, L runtime.Object](client func(group G) C) member[G] {
	of := namespaced(func(group G, _ string) C { return client(group) })
	return func(clients func(kubernetes.Interface) G) kind {
		k := of(clients)
		k.namespaced = false
		return k
	}
}

// in returns the kinds of an API group.
func in[G any](clients func(kubernetes.Interface) G, members ...member[G]) []kind {
	kinds := make([]kind, 0, len(members))
	for _, m := range members {
		kinds = append(kinds, m(clients))
	}
	return kinds
}

// kindOf returns the kind of an object of client-go's own scheme, which has it first, whatever a
// program registers later.
func kindOf(example runtime.Object) schema.GroupVersionKind {
	kinds, _, err := scheme.Scheme.ObjectKinds(example)
	if err != nil {
		panic(err) // client-go has a client for it, so it is there
	}
	return kinds[0]
}

// resourceOf returns the resource of an object of client-go's own scheme. The plurals of the
// stable kinds are all regular.
func resourceOf(example runtime.Object) schema.GroupVersionResource {
	resource, _ := meta.UnsafeGuessKindToResource(kindOf(example))
	return resource
}
