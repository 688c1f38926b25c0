package typed

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/kubetyped/informer/index"
)

// WithTransform passes every object that is received through transform before anything else
// sees it, exactly once: as soon as it is there, even when it is part of a list that is
// streamed. The function may modify the object and return it, but not change its name or
// namespace. If it does, or returns an error, the object is rejected, see
// source.RejectedError; if that was the last state of one that is gone, it is deleted all the
// same, by its key.
//
// T is the type of the informer's objects, or an interface that they implement;
// so one option fits many informers:
//
//	typed.WithTransform(kube.StripManagedFields[metav1.Object])
//
// Then the function has to return an object of the type that it was given.
//
// The option may be given several times. Each function is passed what the one
// before it returns, and is not called after an error.
func WithTransform[T index.Object](transform func(T) (T, error)) Option {
	return func(c *config) error {
		if transform == nil {
			return errors.New("WithTransform: function is nil")
		}
		c.transforms = append(c.transforms, transformStep{
			function: transform,
			of:       reflect.TypeFor[T](),
			call: func(obj any) (any, error) {
				t, ok := obj.(T)
				if !ok {
					return nil, fmt.Errorf("type is %T", obj)
				}
				return transform(t)
			},
		})
		return nil
	}
}

// transformStep is one function of WithTransform.
type transformStep struct {
	function any          // a func(T) (T, error)
	of       reflect.Type // T
	call     func(obj any) (any, error)
}

// transformOf returns the transform functions of c as one, nil if there are
// none.
func transformOf[T index.Object](c *config) (func(T) (T, error), error) {
	var steps []func(T) (T, error)
	for _, s := range c.transforms {
		step, err := stepOf[T](s)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	switch len(steps) {
	case 0:
		return nil, nil
	case 1:
		return steps[0], nil
	}
	return func(obj T) (_ T, err error) {
		var none T
		for _, step := range steps {
			if obj, err = step(obj); err != nil || index.Same(obj, none) {
				return none, err
			}
		}
		return obj, nil
	}, nil
}

// stepOf returns a function of WithTransform as one for objects of type T.
func stepOf[T index.Object](s transformStep) (func(T) (T, error), error) {
	if function, ok := s.function.(func(T) (T, error)); ok {
		return function, nil
	}
	if s.of.Kind() != reflect.Interface || !reflect.TypeFor[T]().Implements(s.of) {
		return nil, fmt.Errorf("the transform function is a %T, and the informer's objects are of type %v", s.function, reflect.TypeFor[T]())
	}
	return func(obj T) (T, error) {
		var none T
		transformed, err := s.call(obj)
		if err != nil || transformed == nil {
			return none, err
		}
		if obj, ok := transformed.(T); ok {
			return obj, nil
		}
		return none, fmt.Errorf("the transform function has made a %T of it", transformed)
	}, nil
}
