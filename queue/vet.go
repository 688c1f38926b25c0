package queue

import (
	"errors"
	"reflect"
)

var (
	errUnhashable = errors.New("it holds a value that cannot be compared")
	errUnequal    = errors.New("it is not equal to itself, as it holds a NaN")
)

// needsVetting reports whether values of type t may not be usable as keys,
// although the type is comparable: values in interfaces may not be comparable,
// and floating-point numbers may not be equal to themselves.
func needsVetting(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface, reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return true
	case reflect.Array:
		return needsVetting(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if needsVetting(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// vet returns an error if the key cannot be used.
func (q *WorkQueue[K]) vet(key K) error {
	if q.vetted {
		return vet(key)
	}
	return nil
}

func vet[K comparable](key K) error {
	if !reflect.ValueOf(&key).Elem().Comparable() {
		return errUnhashable
	}
	if same := key; same != key {
		return errUnequal
	}
	return nil
}
