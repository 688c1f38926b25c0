package plan

import (
	"math"
	"unsafe"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// equals reports whether decoding data gives the value of the field's kind at p. If it
// does not, it adds what is around the difference to differ, which may be nil.
func (f *field) equals(differ *differing, p unsafe.Pointer, data []byte) bool {
	switch f.kind {
	case kindString:
		return *(*string)(p) == string(data)
	case kindBytes:
		have := *(*[]byte)(p)
		return have != nil && string(have) == string(data)
	case kindMessage:
		return f.message.equals(differ, p, data)
	case kindOpaque:
		return f.opaque.equals(p, data)
	default:
		value, end := varint(data, 0)
		return end >= 0 && f.kind.has(p, value)
	}
}

// has reports whether storing value gives what is at p.
func (k kind) has(p unsafe.Pointer, value uint64) bool {
	switch k {
	case kindBool:
		return *(*bool)(p) == (value != 0)
	case kind32:
		return *(*uint32)(p) == uint32(value)
	case kindWide:
		return *(*int64)(p) == int64(int32(value))
	default:
		return *(*uint64)(p) == value
	}
}

// equalElements reports whether decoding the n values gives a slice.
func (f *field) equalElements(differ *differing, elements unsafe.Pointer, length int, data []byte, n int) bool {
	if elements == nil || length != n || f.caches {
		return false
	}
	each := values{data: data}
	for k := range n {
		element := unsafe.Add(elements, uintptr(k)*uintptr(f.size))
		value, number := each.next()
		if f.wire == varintType {
			if !f.kind.has(element, number) {
				return false
			}
		} else if !f.equals(differ, element, value) {
			return false
		}
	}
	return true
}

// equals reports whether decoding data into a zero value gives the value at p. Where
// the generated code would have to decide, it says no; so it does where a field is to be
// set that the message does not have.
func (m *message) equals(differ *differing, p unsafe.Pointer, data []byte) bool {
	var seen parts.FieldSet
	for i := 0; i < len(data); {
		begin := i
		tag, i1 := varint(data, i)
		if i = i1; i < 0 || tag>>3 == 0 || tag > math.MaxInt32 {
			return false
		}
		f := m.field(tag >> 3)
		if f == nil {
			if i = skip(data, i, tag&7); i < 0 {
				return false
			}
			continue
		}
		if uint8(tag&7) != f.wire || seen.Add(f.ordinal) {
			return false
		}
		if i = f.equalAt(differ, unsafe.Add(p, f.Offset), data, begin, i, tag); i < 0 {
			return false
		}
	}
	for ordinal, part := range m.memory {
		if !seen.Has(uint8(ordinal)) && !part.IsZero(p) {
			return false
		}
	}
	return !m.hasRest || m.equalsRest(p, &seen)
}

// equalsRest compares inline fields, absent fields and the memory that is left.
func (m *message) equalsRest(p unsafe.Pointer, seen *parts.FieldSet) bool {
	for _, number := range m.known {
		if f := &m.fields[number]; f.inline && !seen.Has(f.ordinal) && !f.isZero(p) {
			return false
		}
	}
	for _, number := range m.absent {
		if f := &m.fields[number]; f.isThere && !seen.Has(f.ordinal) || f.isNil && f.isZeroAt(p) {
			return false
		}
	}
	for _, left := range m.left {
		if !left.IsZero(p) {
			return false
		}
	}
	return true
}

// equalAt compares a field whose tag is at data[begin] and whose value is at data[i].
// It returns the index after it, negative if they differ.
func (f *field) equalAt(differ *differing, at unsafe.Pointer, data []byte, begin, i int, tag uint64) int {
	var value []byte
	switch {
	case f.shape == slice || f.shape == table:
		end, n := run(data, begin, tag)
		if end < 0 {
			return -1
		}
		equal := false
		if f.shape == slice {
			have := (*parts.Slice)(at)
			equal = f.equalElements(differ, have.Data, have.Len, data[begin:end], n)
		} else {
			have := *(*unsafe.Pointer)(at)
			equal = have != nil && f.equalEntries(differ, have, data[begin:end], n)
		}
		if !equal {
			differ.add(data[begin:end])
			return -1
		}
		return end
	case f.wire == varintType:
		_, end := varint(data, i)
		if end < 0 {
			return -1
		}
		value, i = data[i:end], end
	default:
		first, end := span(data, i)
		if end < 0 {
			return -1
		}
		value, i = data[first:end], end
	}
	if f.shape == pointer {
		if at = *(*unsafe.Pointer)(at); at == nil || f.caches {
			return -1
		}
	}
	if f.equals(differ, at, value) {
		return i
	}
	if f.shape == pointer {
		differ.add(value)
	}
	return -1
}
