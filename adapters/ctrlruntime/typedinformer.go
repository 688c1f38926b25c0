package ctrlruntime

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// Object is an object of a Go type that a scheme has, such as a *corev1.Pod.
type Object interface {
	comparable
	index.Object
	client.Object
}

// newTypedInformer makes the informer of a type.
type newTypedInformer func(toolscache.ListerWatcher, toolscache.SharedIndexInformerOptions) toolscache.SharedIndexInformer

// Typed makes the cache keep the objects of a Go type by their type, so that the store
// that the manager's client reads can be read without copies as well, see Informer:
//
//	options.NewCache = ctrlruntime.NewCache(ctrlruntime.Typed[*corev1.Pod]())
//
// It is an error if T is an interface, a type of objects of any kind
// (*unstructured.Unstructured, *metav1.PartialObjectMetadata), in no scheme of the cache,
// or named twice.
func Typed[T Object]() CacheOption {
	of := reflect.TypeFor[T]()
	return func(s *settings) error {
		example, err := exampleOf[T]()
		if err == nil {
			_, err = apiutil.GVKForObject(example, s.scheme)
		}
		if err == nil && s.typed[of] != nil {
			err = errors.New("the type is named twice")
		}
		if err != nil {
			return fmt.Errorf("option Typed[%v]: %w", of, err)
		}
		s.typed[of] = func(lw toolscache.ListerWatcher, o toolscache.SharedIndexInformerOptions) toolscache.SharedIndexInformer {
			return adapters.NewTypedSharedIndexInformer[T](lw, o)
		}
		return nil
	}
}

// exampleOf returns an empty object, or an error if T cannot be the type of the objects of
// one kind.
func exampleOf[T Object]() (client.Object, error) {
	of := reflect.TypeFor[T]()
	if of.Kind() != reflect.Pointer {
		return nil, errors.New("the type is no pointer to a struct; name the type of the objects, such as *corev1.Pod")
	}
	example, _ := reflect.New(of.Elem()).Interface().(client.Object)
	switch example.(type) {
	case nil:
		return nil, errors.New("the type is none of objects; name one such as *corev1.Pod")
	case *unstructured.Unstructured, *metav1.PartialObjectMetadata:
		return nil, errors.New("objects of any kind can be of this type; name that of one kind, such as *corev1.Pod, or read the cache's informer by adapters.FromShared")
	}
	return example, nil
}

// Informer returns the informer in which a cache that NewCache has made keeps its objects of
// a type that Typed names. It has typed indexes, pages in order, snapshots, ranges without
// copies, event streams, and views can be made of it; all of it on the store that the
// manager's client reads, without a second watch. Its objects are those of the
// cache, not copies: they must not be modified, see adapters.DetectMutations.
//
//	pods, err := ctrlruntime.Informer[*corev1.Pod](mgr.GetCache())
//
// The manager runs it, once it was asked for. Release gives up this use of it
// and no more. An index function may be added at any time.
//
// It returns an error that says what to do, if
//
//   - the cache is another one, or Typed does not name T,
//   - the objects are limited to some namespaces, with each of which there is an informer, or
//   - there is no such kind on the server (meta.IsNoMatchError).
func Informer[T Object](c cache.Cache) (*typed.SharedInformer[T], error) {
	informer, err := informerOf[T](c)
	if err != nil {
		return nil, fmt.Errorf("informer of %v: %w", reflect.TypeFor[T](), err)
	}
	return typed.Use(informer), nil
}

func informerOf[T Object](c cache.Cache) (*typed.Informer[T], error) {
	own, ok := c.(*managerCache)
	if !ok {
		return nil, errNotOurs
	}
	of := reflect.TypeFor[T]()
	if own.typed[of] == nil {
		return nil, fmt.Errorf("the cache does not keep these objects by their type; give ctrlruntime.NewCache the option ctrlruntime.Typed[%v]()", of)
	}
	example, err := exampleOf[T]()
	if err != nil {
		return nil, err
	}
	made, err := own.GetInformer(context.Background(), example, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, err
	}
	if waits, deferred := made.(*deferredInformer); deferred {
		if made = waits.attached(); made == nil {
			kind, err := own.kindOf(example)
			return nil, errors.Join(err, noMatch(kind.kind))
		}
	}
	shared, _ := made.(toolscache.SharedInformer)
	standsOn, _ := adapters.AnyInformer(shared)
	informer, ok := standsOn.(*typed.Informer[T])
	if !ok {
		return nil, errors.New("the cache has one for each of some namespaces; leave DefaultNamespaces, and Namespaces of ByObject, out, or read each by adapters.FromShared")
	}
	return informer, nil
}
