package deepcopy

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// Of returns a function that returns a copy of an object, which shares nothing that can be
// modified with it. It returns an error if the type has no method DeepCopy or DeepCopyObject
// that returns it, unless a value of it is a copy. It is for callers that do not know which
// code modifies the copy: Copy leaves unexported fields shared.
func Of[T any]() (func(T) T, error) {
	var none T
	if _, ok := any(none).(interface{ DeepCopy() T }); ok {
		return func(obj T) T { return any(obj).(interface{ DeepCopy() T }).DeepCopy() }, nil
	}
	of := reflect.TypeFor[T]()
	object := reflect.TypeFor[runtime.Object]()
	switch {
	case of.Implements(object) && !isPromoted[T](of):
		return func(obj T) T { return any(any(obj).(runtime.Object).DeepCopyObject()).(T) }, nil
	case isValue(of):
		return func(obj T) T { return obj }, nil
	}
	return nil, fmt.Errorf("%v has no method DeepCopy or DeepCopyObject", of)
}

// isPromoted reports whether the method DeepCopyObject of a type is that of an embedded
// field, and returns another type.
func isPromoted[T any](of reflect.Type) bool {
	if of.Kind() != reflect.Pointer {
		return false
	}
	_, own := reflect.New(of.Elem()).Interface().(runtime.Object).DeepCopyObject().(T)
	return !own
}

// isValue reports whether nothing of a value of a type can be reached, and modified, through
// another one.
func isValue(of reflect.Type) bool {
	switch of.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return false
	case reflect.Array:
		return isValue(of.Elem())
	case reflect.Struct:
		for f := range of.Fields() {
			if !isValue(f.Type) {
				return false
			}
		}
	}
	return true
}
