package plan

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Caches reports whether methods that only read a value of a type may yet write to its memory,
// as those of a quantity do, which keeps its text and changes its form. Two objects must not
// have the same memory of that kind: a reader of the one would write to the other.
//
// Memory that a value refers to is separate, and does not count. A value in a map cannot be
// written to: each reader has a copy.
func Caches(of reflect.Type) bool {
	switch of.Kind() {
	case reflect.Struct:
		if of == reflect.TypeFor[resource.Quantity]() {
			return true
		}
		for f := range of.Fields() {
			if Caches(f.Type) {
				return true
			}
		}
	case reflect.Array:
		return Caches(of.Elem())
	}
	return false
}
