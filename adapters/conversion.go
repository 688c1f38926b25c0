package adapters

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
)

// conversion is how objects of an informer pass between typed and untyped code.
// There are two: of informers for one type, and of those for whatever comes.
type conversion[T index.Object] struct {
	// typed returns an untyped object as a T. It returns a cache.KeyError if it
	// cannot be one.
	typed func(obj any) (T, error)
	// untyped returns what typed was given.
	untyped func(obj T) any
}

// ofType is the conversion of informers whose objects are of the type T.
func ofType[T index.Object]() conversion[T] {
	return conversion[T]{
		typed: func(untyped any) (T, error) {
			var none T
			obj, ok := untyped.(T)
			if !ok || obj == none {
				return none, cache.KeyError{Obj: untyped, Err: fmt.Errorf("it is a %T, the informer's objects are of type %v", untyped, reflect.TypeFor[T]())}
			}
			return obj, nil
		},
		untyped: func(obj T) any { return obj },
	}
}

// ofAny is the conversion of informers whose objects can be of any type: of
// whatever client-go's DeletionHandlingMetaNamespaceKeyFunc knows a key.
func ofAny() conversion[metav1.Object] {
	return conversion[metav1.Object]{
		typed: func(untyped any) (metav1.Object, error) {
			if obj, ok := untyped.(metav1.Object); ok && reflect.TypeOf(untyped).Kind() == reflect.Pointer {
				return obj, nil
			}
			return nameObject(untyped)
		},
		untyped: func(obj metav1.Object) any {
			if named, ok := obj.(*namedObject); ok {
				return named.untyped
			}
			return obj
		},
	}
}

// namedObject gives metadata to what has none of its own: a key, a tombstone, or
// an object that is not a pointer or only refers to its metadata.
type namedObject struct {
	metav1.Object

	untyped any
}

func nameObject(untyped any) (metav1.Object, error) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(untyped)
	if err != nil {
		return nil, cache.KeyError{Obj: untyped, Err: err}
	}
	if accessor, err := meta.Accessor(untyped); err == nil {
		return &namedObject{Object: accessor, untyped: untyped}, nil
	}
	parsed := keyOf(key)
	return &namedObject{Object: &metav1.ObjectMeta{Namespace: parsed.Namespace, Name: parsed.Name}, untyped: untyped}, nil
}
