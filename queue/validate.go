package queue

import (
	"errors"
	"reflect"
	"slices"
)

var (
	errUnhashable = errors.New("it holds a value that cannot be compared")
	errUnequal    = errors.New("it is not equal to itself, as it holds a NaN")
)

// needsValidation reports whether some values of the comparable type t cannot be
// keys: values in interfaces may not be comparable, and floating-point numbers may
// not be equal to themselves.
func needsValidation(t reflect.Type) bool {
	return holds(t, reflect.Interface, reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128)
}

// refers reports whether values of the comparable type t refer to others, beyond strings.
func refers(t reflect.Type) bool {
	return holds(t, reflect.Interface, reflect.Pointer, reflect.Chan, reflect.UnsafePointer)
}

// holds reports whether t, or what is in it, is of one of some kinds.
func holds(t reflect.Type, kinds ...reflect.Kind) bool {
	switch t.Kind() {
	case reflect.Array:
		return holds(t.Elem(), kinds...)
	case reflect.Struct:
		for i := range t.NumField() {
			if holds(t.Field(i).Type, kinds...) {
				return true
			}
		}
		return false
	}
	return slices.Contains(kinds, t.Kind())
}

// validate returns an error if the key cannot be used.
func (q *WorkQueue[K]) validate(key K) error {
	if q.validates {
		return validate(key)
	}
	return nil
}

func validate[K comparable](key K) error {
	if !reflect.ValueOf(&key).Elem().Comparable() {
		return errUnhashable
	}
	if same := key; same != key {
		return errUnequal
	}
	return nil
}
