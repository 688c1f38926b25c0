package adapters

import (
	"fmt"
	"reflect"

	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
)

// Transform returns a client-go transform function as a typed one, for
// typed.WithTransform:
//
//	typed.WithTransform(adapters.Transform[*corev1.Pod](stripManagedFields))
//
// The function that it returns returns an error if transform returns something else than a T;
// the informer then rejects the object. It returns nil if transform is nil.
func Transform[T index.Object](transform cache.TransformFunc) func(T) (T, error) {
	if transform == nil {
		return nil
	}
	return func(obj T) (T, error) {
		untyped, err := transform(obj)
		transformed, ok := untyped.(T)
		if err == nil && !ok {
			err = fmt.Errorf("the transform function made a %T of a %v", untyped, reflect.TypeFor[T]())
		}
		return transformed, err
	}
}

// TransformFunc returns a typed transform function as one of client-go, for
// SharedInformer.SetTransform. It returns nil if transform is nil.
//
// A cache.DeletedFinalStateUnknown, which some of client-go's queues hand to
// transform functions, is returned as it is: the object in it was transformed
// when it came. For anything else that is not a T the function returns an error,
// upon which client-go reports it and leaves it out.
func TransformFunc[T index.Object](transform func(T) (T, error)) cache.TransformFunc {
	if transform == nil {
		return nil
	}
	return func(untyped any) (any, error) {
		switch obj := untyped.(type) {
		case T:
			return transform(obj)
		case cache.DeletedFinalStateUnknown:
			return untyped, nil
		default:
			return nil, fmt.Errorf("the transform function takes a %v, and got a %T", reflect.TypeFor[T](), untyped)
		}
	}
}
