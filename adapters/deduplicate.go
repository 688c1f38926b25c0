package adapters

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters/internal/listwatch"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
)

// Deduplicate returns a client whose informers, those that Serve and NewClientInformer make,
// deduplicate objects, which takes much less memory, see kube.WithoutDeduplication:
//
//	err := adapters.Serve(factory, adapters.Deduplicate(clientset.CoreV1().Pods(metav1.NamespaceAll)))
//
// Enable it only if the program never modifies cached objects; DetectMutations checks that. It
// has no effect on informers with a transform function, and with clients that are fake or not
// of client-go's clientset.
func Deduplicate[T index.Object, L runtime.Object](client kube.Client[T, L]) kube.Client[T, L] {
	if client == nil {
		return nil
	}
	return deduplicatingClient[T, L]{client}
}

// deduplicatingClient is a client whose informers deduplicate objects.
type deduplicatingClient[T index.Object, L runtime.Object] struct{ kube.Client[T, L] }

// GetNamespace returns the namespace that the client is for.
func (c deduplicatingClient[T, L]) GetNamespace() string { return namespaceOf(c.Client) }

// listWatchOf returns what lists and watches with a client, which belongs to a clientset.
func listWatchOf[T index.Object, L runtime.Object](client kube.Client[T, L], clientset any, tweaks []func(*metav1.ListOptions)) cache.ListerWatcher {
	shared, deduplicates := client.(deduplicatingClient[T, L])
	if deduplicates {
		client = shared.Client
	}
	return listwatch.NewDecodable(func() kube.Client[T, L] { return client }, clientset, deduplicates, tweaks...)
}
