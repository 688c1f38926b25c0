package parts

import (
	"fmt"
	"reflect"
	"unsafe"
)

// Pointers finds the structs that objects of one type point at. To Go code that type is T, or T
// is an interface that it implements, where no code can name it.
type Pointers[T any] struct {
	of     reflect.Type
	direct bool // T is the type itself
}

// PointersTo returns the Pointers of a type, a pointer to a struct.
func PointersTo[T any](of reflect.Type) (Pointers[T], error) {
	t := reflect.TypeFor[T]()
	switch {
	case of == nil || of.Kind() != reflect.Pointer || of.Elem().Kind() != reflect.Struct:
		return Pointers[T]{}, fmt.Errorf("a %v is not a pointer to a struct", of)
	case of != t && (t.Kind() != reflect.Interface || !of.Implements(t)):
		return Pointers[T]{}, fmt.Errorf("a %v is not a %v", of, t)
	}
	return Pointers[T]{of, of == t}, nil
}

// Of returns the type.
func (p Pointers[T]) Of() reflect.Type { return p.of }

// New returns an object that points at a new struct.
func (p Pointers[T]) New() T { return reflect.New(p.of.Elem()).Interface().(T) }

// To returns what an object points at, nil if there is none, or if it is of another type.
func (p Pointers[T]) To(obj T) unsafe.Pointer {
	if p.direct {
		return *(*unsafe.Pointer)(unsafe.Pointer(&obj))
	}
	if v := reflect.ValueOf(obj); v.IsValid() && v.Type() == p.of {
		return v.UnsafePointer()
	}
	return nil
}

// At returns the object that points at a struct of the type, the zero T for nil.
func (p Pointers[T]) At(at unsafe.Pointer) T {
	switch {
	case p.direct:
		return *(*T)(unsafe.Pointer(&at))
	case at == nil:
		return *new(T)
	default:
		return reflect.NewAt(p.of.Elem(), at).Interface().(T)
	}
}
