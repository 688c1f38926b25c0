package parts

import (
	"reflect"
	"unsafe"
)

// Slice is how a slice lies in memory.
type Slice struct {
	Data     unsafe.Pointer
	Len, Cap int
}

// Memory is a part of a struct, in bytes.
type Memory struct{ Offset, Length uint32 }

// MemoryOf returns the memory of a field of a struct that begins at an offset.
func MemoryOf(offset uintptr, of reflect.StructField) Memory {
	return Memory{uint32(offset + of.Offset), uint32(of.Type.Size())}
}

// IsZero reports whether that part of the struct at p has only zeroes. A string that is
// empty and yet refers to something does not count as zero.
func (m Memory) IsZero(p unsafe.Pointer) bool {
	at := unsafe.Add(p, m.Offset)
	if (uintptr(at)|uintptr(m.Length))&7 == 0 {
		for _, word := range unsafe.Slice((*uint64)(at), m.Length/8) {
			if word != 0 {
				return false
			}
		}
		return true
	}
	for _, b := range unsafe.Slice((*byte)(at), m.Length) {
		if b != 0 {
			return false
		}
	}
	return true
}

// MaxFields is how many fields a struct can have for a FieldSet.
const MaxFields = 128

// FieldSet is a set of fields of a struct, by numbers below MaxFields. The zero FieldSet
// is empty.
type FieldSet [MaxFields / 64]uint64

// Add adds a field, and reports whether it was there.
func (s *FieldSet) Add(n uint8) bool {
	bit := uint64(1) << (n & 63)
	was := s[n>>6]&bit != 0
	s[n>>6] |= bit
	return was
}

// Has reports whether a field is there.
func (s *FieldSet) Has(n uint8) bool { return s[n>>6]&(1<<(n&63)) != 0 }
