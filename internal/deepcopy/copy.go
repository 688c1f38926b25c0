// Package deepcopy copies values whose type only the caller knows, and finds memory that two
// of them share.
package deepcopy

import (
	"reflect"
	"unsafe"
)

// Copy returns a copy of obj, which shares nothing with it that can be modified through
// exported fields, elements of slices and arrays, and values of maps:
//
//  1. A type that has the method DeepCopy, DeepCopyInto or DeepCopyObject is copied by it.
//     A method that an embedded field has is none of the type's.
//  2. Other types are copied field by field. nil stays nil, and an empty value stays
//     empty. Two references to one value become references to two copies, except in cycles.
//  3. Unexported fields, functions, channels and keys of maps are copied as an assignment
//     does, so time.Time and netip.Addr are what they were.
//
// If T is an interface, the type of the value in it counts.
func Copy[T any](obj T) T {
	if o, ok := any(obj).(interface{ DeepCopy() T }); ok && !isNil(obj) {
		return o.DeepCopy()
	}
	p := planOf(reflect.TypeFor[T]())
	if p.deepen != nil {
		p.deepen(&copying{}, unsafe.Pointer(&obj))
	}
	return obj
}

// isNil reports whether v is a nil pointer, map or slice.
func isNil(v any) bool {
	switch of := reflect.ValueOf(v); of.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		return of.IsNil()
	default:
		return false
	}
}

// copying is a copy that is being made: the chain of references to the current value, from the
// outside in.
type copying []reference

// reference is a pointer, map or slice.
type reference struct {
	of     reflect.Type
	to     unsafe.Pointer // the original
	length int
	at     unsafe.Pointer // where it is in the copy
}

// follow has copyIt copy what the reference r refers to, unless that is being done
// already: then r is in a cycle, and refers to the copy. It sets r before it goes deeper.
func (c *copying) follow(r reference, copyIt func()) {
	for _, outer := range *c {
		if outer.of == r.of && outer.to == r.to && outer.length == r.length {
			reflect.NewAt(r.of, r.at).Elem().Set(reflect.NewAt(r.of, outer.at).Elem())
			return
		}
	}
	*c = append(*c, r)
	copyIt()
	*c = (*c)[:len(*c)-1]
}
