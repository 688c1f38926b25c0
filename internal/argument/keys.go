package argument

import (
	"errors"
	"reflect"
	"slices"
)

var (
	errUnhashable = errors.New("value cannot be compared")
	errUnequal    = errors.New("value is not equal to itself, because it contains a NaN")
)

// CheckKey returns an error if key cannot be the key of a map: the map would panic, or not find it again.
func CheckKey[K comparable](key K) error {
	if !reflect.ValueOf(&key).Elem().Comparable() {
		return errUnhashable
	}
	if same := key; same != key {
		return errUnequal
	}
	return nil
}

// KeyNeedsCheck reports whether CheckKey returns an error for some values of the comparable type t.
func KeyNeedsCheck(t reflect.Type) bool {
	return holds(t, reflect.Interface, reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128)
}

// KeyRefers reports whether values of the comparable type t refer to others, beyond strings.
func KeyRefers(t reflect.Type) bool {
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
