package queue

import (
	"errors"
	"reflect"
)

var (
	errUnhashable = errors.New("it holds a value that cannot be compared")
	errUnequal    = errors.New("it is not equal to itself, as it holds a NaN")
)

// needsValidation reports whether some values of the comparable type t cannot be
// keys: values in interfaces may not be comparable, and floating-point numbers may
// not be equal to themselves.
func needsValidation(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface, reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return true
	case reflect.Array:
		return needsValidation(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if needsValidation(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
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
