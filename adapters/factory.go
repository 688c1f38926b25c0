package adapters

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
)

// InformerFactory is a generated SharedInformerFactory, that of client-go or one for
// other kinds: F is its own type of functions that make informers.
type InformerFactory[F any] interface {
	InformerFor(obj runtime.Object, newFunc F) cache.SharedIndexInformer
}

// Serve makes a generated factory serve the objects of a client from a typed informer. Later
// requests of the factory get that informer, through Informer, TypedInformer and Lister:
//
//	factory := externalversions.NewSharedInformerFactory(clientset, resync)
//	err := adapters.Serve(factory, clientset.ExampleV1().Widgets(metav1.NamespaceAll))
//
// It is for factories that informer-gen has made for other APIs. Of client-go's
// own, package adapters/informers has all kinds at once.
//
// The factory starts the informer as any other, and gives it its resync period
// and transform. What else it was made with it does not hand out: the client has
// to be one for its namespace, and its list options are to be given again as
// tweaks, which are called in order for each list and watch.
//
// It returns an error, and changes nothing,
//
//   - if the factory or the client is nil, or the client is of no API type,
//   - if the factory has an informer for these objects already: call it first,
//   - if the factory is limited to a namespace and the client to another or none,
//     if it has list options and there are no tweaks, or if it has an informer
//     name, since the resource that goes with it is not known. The error has what
//     to write instead.
func Serve[T cache.Object, L runtime.Object, C any, F ~func(C, time.Duration) cache.SharedIndexInformer](factory InformerFactory[F], client kube.Client[T, L], tweaks ...func(*metav1.ListOptions)) error {
	example := exampleOf[T]()
	switch {
	case factory == nil:
		return notServed[T](errors.New("factory is nil"))
	case client == nil:
		return notServed[T](errors.New("client is nil"))
	case example == nil:
		return notServed[T](errors.New("not an API type"))
	}
	if err := checkLimits(limitsOf(factory), client, len(tweaks) > 0); err != nil {
		return notServed[T](err)
	}
	made := false
	factory.InformerFor(example, func(clientset C, resync time.Duration) cache.SharedIndexInformer {
		made = true
		return NewSharedIndexInformerWithOptions(listWatchOf(client, clientset, tweaks), example, cache.SharedIndexInformerOptions{
			ResyncPeriod: resync,
			Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		})
	})
	if !made {
		return notServed[T](errServed)
	}
	return nil
}

func notServed[T any](err error) error {
	return fmt.Errorf("informers of %v are not served: %w", reflect.TypeFor[T](), err)
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
