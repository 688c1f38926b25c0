package adapters

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// NewClientInformer returns an informer, as NewTypedSharedIndexInformer does, that lists and
// watches with a generated client. It replaces the generated functions that make one informer,
// such as NewPodInformer and NewFilteredPodInformer, and of what a program hands to a
// factory's InformerFor:
//
//	pods := adapters.NewClientInformer(clientset.CoreV1().Pods("shop"), cache.SharedIndexInformerOptions{
//		Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
//	})
//
// The tweaks change the options of each list and watch, in order. They are called
// by the informer's goroutine. Responses to a client of client-go's clientset are decoded here.
//
// If client is nil, Run reports it and returns, and reads find nothing; see SharedIndexInformer.
func NewClientInformer[T cache.Object, L runtime.Object](client kube.Client[T, L], options cache.SharedIndexInformerOptions, tweaks ...func(*metav1.ListOptions)) cache.TypedSharedIndexInformer[T] {
	if client == nil {
		return SharedIndexInformer(typed.NewInformer(kube.FromClient(client)))
	}
	var clientset any = client
	if shared, ok := client.(deduplicatingClient[T, L]); ok {
		clientset = shared.Client
	}
	if argument.IsFakeClient(clientset) {
		clientset = withoutWatchList{}
	}
	return NewTypedSharedIndexInformer[T](listWatchOf(client, clientset, tweaks), options)
}

// withoutWatchList is a client that cannot stream lists.
type withoutWatchList struct{}

// IsWatchListSemanticsUnSupported is how client-go asks.
func (withoutWatchList) IsWatchListSemanticsUnSupported() bool { return true }
