package index

import (
	"reflect"
	"strings"
	"unsafe"
)

// cloner copies the strings in values of type K: what an index keeps must not hold
// on to an object, or to the text that it was decoded from, of which a key may be a
// part.
type cloner[K comparable] []uintptr // where strings are in a K

func clonerOf[K comparable]() cloner[K] {
	return stringsIn(nil, reflect.TypeFor[K](), 0)
}

func stringsIn(found []uintptr, t reflect.Type, at uintptr) []uintptr {
	switch t.Kind() {
	case reflect.String:
		found = append(found, at)
	case reflect.Array:
		for i := range t.Len() {
			found = stringsIn(found, t.Elem(), at+uintptr(i)*t.Elem().Size())
		}
	case reflect.Struct:
		for i := range t.NumField() {
			found = stringsIn(found, t.Field(i).Type, at+t.Field(i).Offset)
		}
	}
	return found
}

// clone returns k with copies of its strings. What pointers in it point to is not
// copied: it is what the key stands for.
func (c cloner[K]) clone(k K) K {
	if len(c) == 0 {
		return k
	}
	return c.cloneStrings(k)
}

func (c cloner[K]) cloneStrings(k K) K { // apart, as k is on the heap here
	for _, at := range c {
		s := (*string)(unsafe.Add(unsafe.Pointer(&k), at))
		*s = strings.Clone(*s)
	}
	return k
}
