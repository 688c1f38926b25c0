package jsontree

import (
	"math"
	"unsafe"
)

// form is what has been read of a value.
type form uint8

const (
	aValue  form = iota // it is there as a value
	aString             // its text
	anInt
	aFloat
)

// member is a member of an object or an element of an array, which has been read.
// Strings and numbers become values when what they are in turns out to be new.
type member struct {
	key    string // without escapes; gone when the text is
	value  any    // if it is there; of a string, a *byte: where its text begins, without escapes
	number uint64 // an int64, or the bits of a float64; of a string, the length of its text
	hash   uint32 // of key
	kind   form
	same   bool // value is that which was like it
}

// said sets a string.
func (m *member) said(text []byte) {
	m.kind, m.value, m.number = aString, unsafe.SliceData(text), uint64(len(text))
}

// text returns the text of a string.
func (m *member) text() []byte { return unsafe.Slice(m.value.(*byte), m.number) }

// take takes the value that is like the member's.
func (m *member) take(like any) { m.kind, m.value, m.same = aValue, like, true }

// literal sets a truth value, which is equal to every other one and has no memory.
func (m *member) literal(value bool, like any) {
	was, ok := like.(bool)
	m.kind, m.value, m.same = aValue, value, ok && was == value
}

// is reports whether a value is the member's.
func (m *member) is(value any) bool {
	switch m.kind {
	case aString:
		s, ok := value.(string)
		return ok && s == string(m.text())
	case anInt:
		n, ok := value.(int64)
		return ok && n == int64(m.number)
	case aFloat:
		f, ok := value.(float64)
		return ok && math.Float64bits(f) == m.number
	default:
		return equal(m.value, value)
	}
}

// allSame reports whether all members are those which were like them.
func allSame(all []member) bool {
	for i := range all {
		if !all[i].same {
			return false
		}
	}
	return true
}

// maxCompared is how many members are compared with each other, if need be.
const maxCompared = 256

// distinct reports whether the keys of members are different from each other. Of many
// members, or if many have one hash, it is content only with those that are in order, as
// encoders write maps.
func distinct(all []member) bool {
	switch {
	case ascending(all):
		return true
	case len(all) > maxCompared:
		return false
	}
	var seen [4]uint64
	collisions := 0
	for i := range all {
		word, bit := &seen[all[i].hash>>6&3], uint64(1)<<(all[i].hash&63)
		if *word&bit != 0 && among(all[:i], &all[i], &collisions) {
			return false
		}
		*word |= bit
	}
	return true
}

// among reports whether one of the members may have the key of m: it does not compare more
// keys than there can be members, of all that have the hash of another one.
func among(all []member, m *member, collisions *int) bool {
	for i := range all {
		if all[i].hash != m.hash {
			continue
		}
		if *collisions++; *collisions > maxCompared || all[i].key == m.key {
			return true
		}
	}
	return false
}

func ascending(all []member) bool {
	for i := 1; i < len(all); i++ {
		if all[i-1].key >= all[i].key {
			return false
		}
	}
	return true
}
