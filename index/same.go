package index

import (
	"reflect"
	"unsafe"
)

const wordSize = unsafe.Sizeof(uintptr(0))

// Same reports whether a and b are one state of an object: the same pointer, map or function,
// or for any other T equal values, by reflect.DeepEqual if they have no ==. For pointers it
// costs as much as ==, which T need not have: see [Object].
func Same[T any](a, b T) bool {
	if unsafe.Sizeof(a) == wordSize && unsafe.Alignof(a) == wordSize { // a word, without padding
		return *(*uintptr)(unsafe.Pointer(&a)) == *(*uintptr)(unsafe.Pointer(&b))
	}
	return sameValue(a, b)
}

// sameValue is Same for values that are no words.
func sameValue[T any](a, b T) (same bool) {
	defer func() {
		if recover() != nil { // an interface in it holds a value without ==
			same = deepEqual(a, b)
		}
	}()
	x, y := any(a), any(b)
	if t := reflect.TypeOf(x); t != nil && !t.Comparable() {
		return deepEqual(a, b)
	}
	return x == y
}

// deepEqual is apart from sameValue since what it compares escapes.
//
//go:noinline
func deepEqual[T any](a, b T) bool { return reflect.DeepEqual(a, b) }
