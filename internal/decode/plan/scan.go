package plan

// The wire types of protobuf that are met here.
const (
	varintType  = 0
	fixed64Type = 1
	bytesType   = 2
	fixed32Type = 5
)

// varint reads the number at data[i]. It returns the index after it, which is
// negative if there is no number. Bits above the 64th are dropped, as generated
// code does.
func varint(data []byte, i int) (uint64, int) {
	if i < len(data) && data[i] < 0x80 {
		return uint64(data[i]), i + 1
	}
	value := uint64(0)
	for shift := 0; shift < 64 && i < len(data); shift += 7 {
		b := data[i]
		i++
		value |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return value, i
		}
	}
	return 0, -1
}

// span reads the length at data[i]. It returns where the bytes that have it begin
// and end; the end is negative if data is shorter.
func span(data []byte, i int) (begin, end int) {
	size, i := varint(data, i)
	if i < 0 || size > uint64(len(data)-i) {
		return 0, -1
	}
	return i, i + int(size)
}

// skip returns the index after a value at data[i], negative if there is none.
func skip(data []byte, i int, wireType uint64) int {
	switch wireType {
	case varintType:
		_, i = varint(data, i)
		return i
	case fixed64Type:
		i += 8
	case bytesType:
		_, i = span(data, i)
		return i
	case fixed32Type:
		i += 4
	default: // groups are left to generated code
		return -1
	}
	if i > len(data) {
		return -1
	}
	return i
}

// run returns the index after the values of one field that follow each other from
// data[i], where the tag of the first begins, and how many they are. The index is
// negative if they cannot be read.
func run(data []byte, i int, tag uint64) (end, n int) {
	for {
		next, at := varint(data, i)
		if at < 0 || next != tag {
			if i == len(data) || at >= 0 {
				return i, n
			}
			return -1, n
		}
		if i = skip(data, at, tag&7); i < 0 {
			return -1, n
		}
		n++
		if i == len(data) {
			return i, n
		}
	}
}
