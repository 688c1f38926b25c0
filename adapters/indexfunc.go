package adapters

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
)

// Index returns an index whose keys are those that f, an index function of
// client-go, returns for an object. As there, an error of f is a panic when an
// object is stored, with the name of the index and the object's key: client-go
// has no other way to say so either.
//
//	byNode := adapters.Index[*corev1.Pod]("node", nodeNameIndexFunc)
func Index[T index.Object](name string, f cache.IndexFunc) *index.Index[string, T] {
	if f == nil {
		return index.New[string, T](name, nil) // adding it returns an error
	}
	return newIndex(name, f, ofType[T]())
}

// newIndex returns an index whose function is called with untyped objects.
func newIndex[T index.Object](name string, f cache.IndexFunc, conv conversion[T]) *index.Index[string, T] {
	return index.New(name, func(obj T) []string { return mustIndex(name, f, obj, conv) })
}

// mustIndex calls an index function, and panics if it returns an error. An object
// that is not known has no values.
func mustIndex[T index.Object](name string, f cache.IndexFunc, obj T, conv conversion[T]) []string {
	untyped, ok := conv.known(obj)
	if !ok {
		return nil
	}
	values, err := f(untyped)
	if err != nil {
		panic(fmt.Errorf("unable to calculate an index entry for key %q on index %q: %w", index.KeyOf(obj), name, err))
	}
	return values
}

// IndexFunc returns an index function for client-go that calls keys, as it may
// be given to index.New. It returns an error for an object that is not a T. IndexFunc returns
// nil if keys is nil.
func IndexFunc[T index.Object](keys func(obj T) []string) cache.IndexFunc {
	if keys == nil {
		return nil
	}
	conv := ofType[T]()
	return func(untyped any) ([]string, error) {
		obj, err := conv.typed(untyped)
		if err != nil {
			return nil, err
		}
		return keys(obj), nil
	}
}
