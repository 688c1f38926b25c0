package kube

import (
	"context"
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/typed/source"
)

// Client is the part of a generated typed client that is needed to list and
// watch; every one of them has it. T is the type of the objects and L that of
// their lists; the compiler infers both.
type Client[T index.Object, L runtime.Object] interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// FromClient returns a source that lists and watches with a generated client,
// such as clientset.CoreV1().Pods(metav1.NamespaceAll) or
// clientset.CoreV1().Nodes(), and those of fake clientsets.
//
// With a client of client-go's own clientset, which asks an API server, the source makes the
// client's requests, but decodes the objects itself, as FromREST does: on all cores, with
// deduplication, see WithoutDeduplication. Other clients, such as fake ones, ones in your own
// struct, or those of custom resources, list and watch by their methods, see
// FromListerWatcher.
//
// The list is streamed (WatchList) where client-go's feature gate WatchListClient and
// the server allow it.
func FromClient[T index.Object, L runtime.Object](client Client[T, L], opts ...SourceOption) source.Source[T] {
	if client == nil {
		return &reflectorSource[T]{err: errors.New("client is nil")}
	}
	if generated := generatedSource[T](client, opts); generated != nil {
		return generated
	}
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, opts)
		},
		WatchFuncWithContext: client.Watch,
	}
	if argument.IsFakeClient(client) {
		opts = append(slices.Clip(opts), WithoutWatchList()) // what the caller has is the caller's
	}
	return newReflectorSource[T](cache.ToListWatcherWithWatchListSemantics(lw, client), originOf[T](client), opts)
}
