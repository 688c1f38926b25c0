package wire

import (
	"encoding/binary"
	"errors"
	"math"
)

var errBadProtobuf = errors.New("not a protobuf message")

// protobufMessage is the text of a message. What next returns refers to it, so
// that nothing is copied before the object itself is decoded.
type protobufMessage []byte

// isFieldNumber reports whether fields can have a number. Generated code has an error for
// others.
func isFieldNumber(n uint64) bool { return n > 0 && n <= math.MaxInt32 }

// next consumes a field. Its value is nil unless it is of the type with a length.
func (m *protobufMessage) next() (number uint64, value []byte, err error) {
	tag, n := binary.Uvarint(*m)
	if n <= 0 || !isFieldNumber(tag>>3) {
		return 0, nil, errBadProtobuf
	}
	*m = (*m)[n:]
	size := uint64(0)
	switch tag & 7 {
	case varintType:
		_, n = binary.Uvarint(*m)
		if n <= 0 {
			return 0, nil, errBadProtobuf
		}
		size = uint64(n)
	case fixed64Type:
		size = 8
	case fixed32Type:
		size = 4
	case bytesType:
		size, n = binary.Uvarint(*m)
		if n <= 0 || size > uint64(len(*m)-n) {
			return 0, nil, errBadProtobuf
		}
		value = (*m)[n : n+int(size) : n+int(size)]
		size += uint64(n)
	default:
		return 0, nil, errBadProtobuf
	}
	if size > uint64(len(*m)) {
		return 0, nil, errBadProtobuf
	}
	*m = (*m)[size:]
	return tag >> 3, value, nil
}

// known is next for a message whose fields up to a number are known, and all of the type
// with a length: it returns an error for one of another type.
func (m *protobufMessage) known(last uint64) (number uint64, value []byte, err error) {
	number, value, err = m.next()
	if err == nil && number <= last && value == nil {
		err = errBadProtobuf
	}
	return number, value, err
}

// field returns the last value of a field of the type with a length. It returns
// false if there is none before the message ends, or cannot be read any further.
func (m protobufMessage) field(wanted uint64) (last protobufMessage, ok bool) {
	for len(m) > 0 {
		number, value, err := m.next()
		if err != nil {
			break
		}
		if number == wanted && value != nil {
			last, ok = value, true
		}
	}
	return last, ok
}
