package adapters

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// InformerFactory is a generated SharedInformerFactory, that of client-go or one for
// other kinds: F is its own type of functions that make informers.
type InformerFactory[F any] interface {
	InformerFor(obj runtime.Object, newFunc F) cache.SharedIndexInformer
}

// Serve makes a generated factory serve the objects of a client from a typed
// informer. Whoever asks the factory for them later gets that one, by Informer,
// TypedInformer and Lister alike:
//
//	factory := informers.NewSharedInformerFactory(clientset, resync)
//	err := adapters.Serve(factory, clientset.CoreV1().Pods(metav1.NamespaceAll))
//
// The factory starts the informer as any other, and gives it its resync period
// and transform. It cannot tell the namespace and the list options that it was
// made with: the client has to be one for that namespace, and the options are to
// be given again as tweaks, which are called in order for each list and watch.
//
// It returns an error if the client is nil or of no API type, or if the factory
// has an informer for these objects already: call it first.
func Serve[T index.Object, L runtime.Object, C any, F ~func(C, time.Duration) cache.SharedIndexInformer](factory InformerFactory[F], client typed.Client[T, L], tweaks ...func(*metav1.ListOptions)) error {
	example := exampleOf[T]()
	if client == nil {
		return fmt.Errorf("informers of %v are not served: the client is nil", reflect.TypeFor[T]())
	}
	if example == nil {
		return fmt.Errorf("informers of %v are not served: it is no API type", reflect.TypeFor[T]())
	}
	made := false
	factory.InformerFor(example, func(clientset C, resync time.Duration) cache.SharedIndexInformer {
		made = true
		lw := cache.ToListWatcherWithWatchListSemantics(listWatchOf(client, tweaks), clientset)
		return NewTypedSharedIndexInformer[T](lw, cache.SharedIndexInformerOptions{
			ResyncPeriod: resync,
			Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		})
	})
	if !made {
		return fmt.Errorf("informers of %v are not served: %w", reflect.TypeFor[T](), errServed)
	}
	return nil
}

var errServed = errors.New("the factory was asked for one before, and has made it; call Serve first")

// exampleOf returns an empty object of the type T, nil if that is no pointer to
// an API type.
func exampleOf[T index.Object]() runtime.Object {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Pointer {
		return nil
	}
	example, _ := reflect.New(t.Elem()).Interface().(runtime.Object)
	return example
}

// listWatchOf returns what lists and watches with a client.
func listWatchOf[T index.Object, L runtime.Object](client typed.Client[T, L], tweaks []func(*metav1.ListOptions)) *cache.ListWatch {
	tweak := func(opts metav1.ListOptions) metav1.ListOptions {
		for _, t := range tweaks {
			t(&opts)
		}
		return opts
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, tweak(opts))
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, tweak(opts))
		},
	}
}
