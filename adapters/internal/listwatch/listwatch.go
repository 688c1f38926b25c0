// Package listwatch makes the ListerWatchers of client-go's Reflectors out of clients.
package listwatch

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Client is the part of a client that is needed; generated, dynamic and metadata
// clients have it. L is the type of its lists.
type Client[L runtime.Object] interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// New returns a ListerWatcher of the client that a function returns. The function is called for
// each list and watch, and so are the tweaks, in order; those that are nil are left out. The
// clientset is the one that the client belongs to. As in
// cache.ToListWatcherWithWatchListSemantics, it decides whether lists can be streamed.
func New[L runtime.Object](client func() Client[L], clientset any, tweaks ...func(*metav1.ListOptions)) cache.ListerWatcher {
	tweak := func(opts metav1.ListOptions) metav1.ListOptions {
		for _, t := range tweaks {
			if t != nil {
				t(&opts)
			}
		}
		return opts
	}
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return client().List(ctx, tweak(opts))
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			return client().Watch(ctx, tweak(opts))
		},
	}, clientset)
}
