package view

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/kubetyped/informer/index"
)

// places maps objects to numbers, as a map[T]uint32 would, which needs a comparable T. It finds
// pointers by their addresses: while an object is here, no other one has its address.
type places[T index.Object] struct {
	words  map[uintptr]uint32 // if a T is a word, as a pointer is
	values map[any]uint32     // otherwise
}

// checkPlaces returns an error if places cannot have objects of a type.
func checkPlaces[T index.Object]() error {
	if of := reflect.TypeFor[T](); !of.Comparable() {
		return fmt.Errorf("objects of type %v cannot be the input of a view, as it has no ==: use pointers", of)
	}
	return nil
}

func newPlaces[T index.Object]() (p places[T]) {
	if isWord[T]() {
		p.words = map[uintptr]uint32{}
	} else {
		p.values = map[any]uint32{}
	}
	return p
}

func isWord[T any]() bool {
	const size = unsafe.Sizeof(uintptr(0))
	var none T
	return unsafe.Sizeof(none) == size && unsafe.Alignof(none) == size // without padding
}

func word[T any](obj *T) uintptr { return *(*uintptr)(unsafe.Pointer(obj)) }

// isNone reports whether obj is the zero T, which stands for no object.
func isNone[T index.Object](obj T) bool {
	var none T
	return index.Same(obj, none)
}

func (p places[T]) get(obj T) (place uint32, ok bool) {
	if isWord[T]() {
		place, ok = p.words[word(&obj)]
	} else {
		place, ok = p.values[obj]
	}
	return place, ok
}

func (p places[T]) put(obj T, place uint32) {
	if isWord[T]() {
		p.words[word(&obj)] = place
	} else {
		p.values[obj] = place
	}
}

func (p places[T]) remove(obj T) {
	if isWord[T]() {
		delete(p.words, word(&obj))
	} else {
		delete(p.values, obj)
	}
}
