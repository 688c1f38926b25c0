package heapsize

import (
	"reflect"
	"time"
)

// Packed is an object that is kept as bytes.
type Packed interface {
	// AddPacked adds the object's bytes, base and decodings to a sum.
	AddPacked(to *PackedSum)
}

// MayBePacked reports whether an object of type T can be Packed.
func MayBePacked[T any]() bool {
	of := reflect.TypeFor[T]()
	return of.Kind() == reflect.Interface || of.Implements(reflect.TypeFor[Packed]())
}

// PackedSum is a sum over objects that are kept as bytes. It is for one goroutine.
type PackedSum struct {
	Objects int
	Bytes   int64 // with their bases
	Bases   int
	OfBases int64 // bytes, which are not in the sizes of objects
	Raw     int64 // bytes of the objects as they came
	Decoded uint64
	Took    time.Duration // to decode

	seen map[any]bool
}

// IsNew reports whether it is called for a value, a pointer, for the first time.
func (s *PackedSum) IsNew(of any) bool {
	if s.seen == nil {
		s.seen = map[any]bool{}
	}
	seen := s.seen[of]
	s.seen[of] = true
	return !seen
}

// AddPacked adds an object, and reports whether it is Packed.
func (s *PackedSum) AddPacked(obj any) bool {
	packed, ok := obj.(Packed)
	if ok {
		s.Objects++
		packed.AddPacked(s)
	}
	return ok
}
