package packed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
)

// A delta makes a text out of a base, in turns: it has how many bytes to insert, and
// those; how many to copy of the base, and how far their place is from the one that comes
// next, which is after what was copied last, and as many bytes on as were inserted. So where
// a text differs from its base by other bytes in the same place, the distance is 0, in one
// byte. Numbers are varints; the distance is a signed one. A delta of which nothing is left
// ends the text.

const (
	// window is how many bytes have to be equal to be copied.
	window = 8
	// stride is how far the places of a base are apart that are looked up.
	stride = 4
	// slotBits is the number of bits of a place in the table of a differ.
	slotBits = 13
	// patience is how many bytes without a match it takes to look at fewer places, as a
	// power of two.
	patience = 6
)

// MostShared is the length in bytes of the longest object that is a delta or a base. Longer
// ones are kept whole. Places in a base have to fit into a uint16.
const MostShared = 64<<10 - 1

// differ makes deltas. It must not be used by several goroutines at once.
type differ struct {
	places [1 << slotBits]uint16 // in the base, by hash; 0: none, else the place and one more
}

func slot(of uint64) uint64 { return of * 0x9e3779b97f4a7c15 >> (64 - slotBits) }

// read indexes the places of a base.
func (d *differ) read(base []byte) {
	clear(d.places[:])
	for at := 0; at+window <= len(base); at += stride {
		if s := slot(binary.LittleEndian.Uint64(base[at:])); d.places[s] == 0 {
			d.places[s] = uint16(at + 1)
		}
	}
}

// append appends the delta of text to into, and returns it. It gives up as soon as that is
// longer than most, and returns false; but the delta of the base itself is never longer than
// five bytes, and always made. Neither text nor base is longer than MostShared.
func (d *differ) append(into, base, text []byte, most int) ([]byte, bool) {
	if bytes.Equal(base, text) {
		return appendWhole(into, len(text)), true
	}
	d.read(base)
	begin := len(into)
	inserted, next := 0, 0 // where the bytes begin that are not written yet, and where the last copy ended
	for at := 0; at+window <= len(text); {
		found := d.find(base, text, at, next+at-inserted)
		if found < 0 {
			if at += 1 + (at-inserted)>>patience; at-inserted > most {
				return into, false
			}
			continue
		}
		for at > inserted && found > 0 && base[found-1] == text[at-1] {
			at, found = at-1, found-1
		}
		size := window + equal(base[found+window:], text[at+window:])
		into = appendInsert(into, text[inserted:at])
		into = binary.AppendUvarint(into, uint64(size))
		into = binary.AppendVarint(into, int64(found-(next+at-inserted)))
		if len(into)-begin > most {
			return into, false
		}
		at += size
		inserted, next = at, found+size
	}
	if inserted < len(text) {
		into = appendInsert(into, text[inserted:])
	}
	return into, len(into)-begin <= most
}

// find returns a place of the base where the window of text begins, -1 if none is known. The
// expected place is looked at first.
func (d *differ) find(base, text []byte, at, expected int) int {
	sought := binary.LittleEndian.Uint64(text[at:])
	if expected+window <= len(base) && binary.LittleEndian.Uint64(base[expected:]) == sought {
		return expected
	}
	found := int(d.places[slot(sought)]) - 1
	if found >= 0 && binary.LittleEndian.Uint64(base[found:]) == sought {
		return found
	}
	return -1
}

func appendInsert(into, inserted []byte) []byte {
	return append(binary.AppendUvarint(into, uint64(len(inserted))), inserted...)
}

// appendWhole appends the delta of a base with itself.
func appendWhole(into []byte, size int) []byte {
	if size == 0 {
		return into
	}
	return binary.AppendVarint(binary.AppendUvarint(append(into, 0), uint64(size)), 0)
}

// equal returns with how many equal bytes two texts begin.
func equal(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

var errDelta = errors.New("packed bytes are damaged")

// appendText appends the text that a delta makes of a base. It returns an error if the delta
// is none of that base.
func appendText[Base []byte | string](into []byte, base Base, delta string) ([]byte, error) {
	next := 0
	for len(delta) > 0 {
		size, n := uvarint(delta)
		if n <= 0 || size > uint64(len(delta)-n) {
			return into, errDelta
		}
		into = append(into, delta[n:n+int(size)]...)
		next += int(size)
		if delta = delta[n+int(size):]; delta == "" {
			break
		}
		size, n = uvarint(delta)
		if n <= 0 {
			return into, errDelta
		}
		delta = delta[n:]
		distance, n := uvarint(delta)
		if n <= 0 {
			return into, errDelta
		}
		delta = delta[n:]
		next += int(int64(distance>>1) ^ -int64(distance&1))
		if next < 0 || next > len(base) || size > uint64(len(base)-next) {
			return into, errDelta
		}
		into = append(into, base[next:next+int(size)]...)
		next += int(size)
	}
	return into, nil
}

// uvarint is binary.Uvarint of a string.
func uvarint(text string) (value uint64, size int) {
	for i := 0; i < len(text) && i < binary.MaxVarintLen64; i++ {
		b := text[i]
		value |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return value, i + 1
		}
	}
	return 0, 0
}
