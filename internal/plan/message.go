package plan

import (
	"reflect"
	"unsafe"
)

// kind tells how a value is encoded.
type kind uint8

const (
	kindNone kind = iota // the field is unknown, or not asked for
	kindString
	kindBytes
	kindBool
	kind32   // an integer of 32 bits
	kind64   // an integer of 64 bits
	kindWide // an integer of 32 bits with a sign, decoded into one of 64
	kindMessage
	kindOpaque // a type that has a way of its own
)

// shape tells what holds values of a kind.
type shape uint8

const (
	single shape = iota
	pointer
	slice
	table // a map
)

// message is the plan of a type that is encoded as a message.
type message struct {
	of reflect.Type
	// fields are by the numbers that they have in messages.
	fields []field
	// known are the numbers of those that are decoded.
	known []uint64
	// left are the fields of a struct that decoding leaves as they are.
	left []memory
	// absent are the numbers of those that may have to be set though the message has
	// none of them, or else though it has.
	absent []uint64
	// kept is where the kind of an object is.
	kept kept
}

// field is the plan of a field.
type field struct {
	kind    kind
	shape   shape
	wire    uint8 // the wire type of its values
	ordinal uint8 // its number among the known fields of the message
	memory
	of      reflect.Type // the field's type
	elem    reflect.Type // what of points at, or has elements of
	size    uintptr      // of an elem
	message *message     // of kindMessage
	opaque  *opaque      // of kindOpaque
	key     *field       // of a map: one whose kind is kindString
	whole   *site        // where its value as a whole is shared, if it is no single one
	each    *site        // where each value is shared, if it has a memory of its own

	// Of a field of the user's own, into which one of the API is decoded as JSON would
	// be:
	inline     bool // its message is decoded into the struct that the field is of
	emptyIsNil bool // JSON leaves out bytes that are none
	isNil      bool // JSON leaves out what it points at, or has null, if that is zero
	isThere    bool // JSON has it even if the message has not
}

// isZero reports whether a field of the struct at p has only zeroes.
func (f *field) isZero(p unsafe.Pointer) bool {
	if !f.inline {
		return f.memory.isZero(p)
	}
	for _, number := range f.message.known {
		if !f.message.fields[number].isZero(p) {
			return false
		}
	}
	return true
}

// memory is a part of a struct.
type memory struct{ offset, length uintptr }

// isZero reports whether the memory has only zeroes. A string that is empty and
// yet refers to something does not count as zero here, which does no harm.
func (m memory) isZero(at unsafe.Pointer) bool {
	at = unsafe.Add(at, m.offset)
	if (uintptr(at)|m.length)&7 == 0 {
		for _, word := range unsafe.Slice((*uint64)(at), m.length/8) {
			if word != 0 {
				return false
			}
		}
		return true
	}
	for _, b := range unsafe.Slice((*byte)(at), m.length) {
		if b != 0 {
			return false
		}
	}
	return true
}

// maxFields is how many fields a message can have.
const maxFields = 128

// numbers is a set of ordinals.
type numbers [maxFields / 64]uint64

// add adds a number, and reports whether it was there.
func (s *numbers) add(n uint8) bool {
	bit := uint64(1) << (n & 63)
	was := s[n>>6]&bit != 0
	s[n>>6] |= bit
	return was
}

func (s *numbers) has(n uint8) bool { return s[n>>6]&(1<<(n&63)) != 0 }
