package plan

import (
	"reflect"
	"unsafe"

	"github.com/kubetyped/informer/internal/decode/layout"
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
	left []layout.Memory
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
	layout.Memory
	of      reflect.Type // the field's type
	elem    reflect.Type // what of points at, or has elements of
	size    uintptr      // of an elem
	message *message     // of kindMessage
	opaque  *opaque      // of kindOpaque
	key     *field       // of a map: one whose kind is kindString
	whole   *site        // where its value as a whole is shared, if it is no single one
	each    *site        // where each value is shared, if it has a memory of its own
	caches  bool         // values that are pointed at, or elements of a slice, are not shared, see Caches

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
		return f.Memory.IsZero(p)
	}
	for _, number := range f.message.known {
		if !f.message.fields[number].isZero(p) {
			return false
		}
	}
	return true
}
