package plan

import (
	"reflect"
	"unsafe"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// kind says how a value is encoded.
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
	kindOpaque // a type with custom code
)

// shape says what holds values of a kind.
type shape uint8

const (
	single shape = iota
	pointer
	slice
	table // a map
)

// message is the plan of a type that is encoded as a message.
type message struct {
	// fields are by the numbers that they have in messages.
	fields []field
	// memory is the memory of the decoded fields, by ordinal. An inline field has none.
	memory []parts.Memory
	// hasRest is set by pack if a field is inline or absent, or some memory is left, see equalsRest.
	hasRest bool

	of reflect.Type
	// known are the numbers of those that are decoded.
	known []uint64
	// left are the fields of a struct that decoding leaves as they are.
	left []parts.Memory
	// absent are the numbers of those that may have to be set though the message has
	// none of them, or else though it has.
	absent []uint64
	packed bool // see pack
	// kept is where the kind of an object is.
	kept kept
}

// field is the plan of a field. It takes 64 bytes, a cache line: a process does other things between
// two updates, and then the decoder waits for memory.
type field struct {
	kind    kind
	shape   shape
	wire    uint8 // the wire type of its values
	ordinal uint8 // its number among the known fields of the message
	caches  bool  // values that are pointed at, or elements of a slice, are not shared, see Caches

	// Of a field of the user's own, into which one of the API is decoded as JSON would
	// be:
	inline     bool // its message is decoded into the struct that the field is of
	emptyIsNil bool // JSON leaves out bytes that are none
	isNil      bool // JSON leaves out what it points at, or has null, if that is zero

	parts.Memory
	size    uint32   // of an elem
	isThere bool     // as isNil: JSON has it even if the message has not
	message *message // of kindMessage
	opaque  *opaque  // of kindOpaque
	whole   *site    // where its value as a whole is shared, if it is no single one
	each    *site    // where each value is shared, if it has separate memory
	*fieldTypes
}

// fieldTypes are the types that an allocation needs.
type fieldTypes struct {
	of   reflect.Type // the field's type
	elem reflect.Type // what of points at, or has elements of
	key  *field       // of a map: one whose kind is kindString
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

// pack completes a message and the messages in it, and moves their fields into one array, and the memory
// of these into another. Spread over the heap, they are on about a hundred pages.
func (m *message) pack() {
	var all []*message
	fields, memory := 0, 0
	var collect func(*message)
	collect = func(m *message) {
		if m == nil || m.packed {
			return
		}
		m.packed = true
		m.hasRest = m.absent != nil || m.left != nil
		all, fields, memory = append(all, m), fields+len(m.fields), memory+len(m.memory)
		for i := range m.fields {
			m.hasRest = m.hasRest || m.fields[i].inline
			collect(m.fields[i].message)
		}
	}
	collect(m)
	allFields, allMemory := make([]field, 0, fields), make([]parts.Memory, 0, memory)
	for _, m := range all {
		allFields, allMemory = append(allFields, m.fields...), append(allMemory, m.memory...)
		m.fields = allFields[len(allFields)-len(m.fields) : len(allFields) : len(allFields)]
		m.memory = allMemory[len(allMemory)-len(m.memory) : len(allMemory) : len(allMemory)]
	}
}
