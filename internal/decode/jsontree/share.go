package jsontree

import (
	"math"
	"unsafe"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// The kinds of parts. Each stands for one Go type.
const (
	stringPart uint32 = 1 + iota // a string in an interface
	intPart                      // an int64 in an interface
	floatPart                    // a float64 in an interface
	mapPart                      // a map[string]any
	slicePart                    // a []any in an interface
	keyPart                      // the bytes of a string
)

// luckCount is for how many places hits are counted separately. A power of two.
const luckCount = 1 << 10

// maxLooked is how many times as many bytes as an object has are looked up: each counts
// once for each part that it is in.
const maxLooked = 16

// of returns the place of a member that is in an object at p.
func (p place) of(hash uint32) place { return (p<<5 ^ p>>27 ^ place(hash)) * 0x9e3779b1 }

// found is what there is in the table for some bytes.
type found struct {
	parts.Part
	ticket parts.Ticket
	luck   *parts.Luck
}

// find looks in the table for a part that has these bytes.
func (p *pass) find(kind uint32, at place, data []byte) found {
	d := p.decoder
	if p.looked += len(data); d.table == nil || p.looked > maxLooked*len(p.text) {
		return found{}
	}
	luck := &d.lucks[uint32(at.of(kind))%luckCount]
	if !luck.Try(p.trial) {
		return found{}
	}
	part, ticket := d.table.Find(kind, data)
	return found{part, ticket, luck}
}

// keep keeps a part that was made because none was found.
func (p *pass) keep(f found, data unsafe.Pointer) {
	if f.ticket != (parts.Ticket{}) {
		p.decoder.table.Keep(f.ticket, parts.Part{Data: data, Len: 1})
	}
}

// mapOf returns a map of members that were read from these bytes.
func (p *pass) mapOf(all []member, data []byte, at place) any {
	if len(all) == 0 && p.decoder.table != nil {
		return p.empty()
	}
	f := p.find(mapPart, at, data)
	if f.Data != nil {
		value := valueOf(map[string]any(nil), f.Data)
		if isMap(all, value.(map[string]any)) {
			f.luck.Hit(p.trial)
			return value
		}
	}
	value := any(p.makeMap(all, at))
	p.keep(f, dataOf(value))
	return value
}

// isMap reports whether a map is that of the members.
func isMap(all []member, value map[string]any) bool {
	if len(value) != len(all) {
		return false
	}
	for i := range all {
		if v, ok := value[all[i].key]; !ok || !all[i].is(v) {
			return false
		}
	}
	return distinct(all)
}

// makeMap returns a new map of members. Of two that have one key, it has the last.
func (p *pass) makeMap(all []member, at place) map[string]any {
	made := make(map[string]any, len(all))
	for i := range all {
		key := unsafe.Slice(unsafe.StringData(all[i].key), len(all[i].key))
		made[p.key(key, all[i].hash)] = p.made(&all[i], at.of(all[i].hash))
	}
	return made
}

// empty returns a map of no members.
func (p *pass) empty() map[string]any {
	if p.none == nil || len(p.none) > 0 { // modified, which is forbidden
		p.none = map[string]any{}
	}
	return p.none
}

// sliceOf returns a slice of elements that were read from these bytes.
func (p *pass) sliceOf(all []member, data []byte, at place) any {
	if len(all) == 0 {
		return emptySlice
	}
	f := p.find(slicePart, at, data)
	if f.Data != nil {
		value := valueOf([]any(nil), f.Data)
		if isSlice(all, value.([]any)) {
			f.luck.Hit(p.trial)
			return value
		}
	}
	made := make([]any, len(all))
	for i := range all {
		made[i] = p.made(&all[i], at)
	}
	value := any(made)
	p.keep(f, dataOf(value))
	return value
}

// emptySlice cannot be modified: there is no room in it.
var emptySlice any = []any{}

// isSlice reports whether a slice is that of the elements. There is no room in it, since
// sliceOf has made it.
func isSlice(all []member, value []any) bool {
	if len(value) != len(all) {
		return false
	}
	for i := range all {
		if !all[i].is(value[i]) {
			return false
		}
	}
	return true
}

// made returns the value of a member.
func (p *pass) made(m *member, at place) any {
	switch m.kind {
	case aString:
		return p.stringOf(m, at)
	case anInt, aFloat:
		return p.numberOf(m, at)
	default:
		return m.value
	}
}

// stringOf returns the string that a member is. Times and names come several times in
// an object, so short strings are remembered.
func (p *pass) stringOf(m *member, at place) any {
	text := m.text()
	if len(text) == 0 {
		return emptyString
	}
	if len(text) > parts.LongestRecent {
		return p.newText(m, at)
	}
	known := &p.strings[parts.HashOf(text)%stringCount]
	if s, ok := (*known).(string); !ok || s != string(text) {
		*known = p.newText(m, at)
	}
	return *known
}

// newText returns a string that is not remembered.
func (p *pass) newText(m *member, at place) any {
	text := m.text()
	f := p.find(stringPart, at, text)
	if f.Data != nil {
		if value := valueOf("", f.Data); m.is(value) {
			f.luck.Hit(p.trial)
			return value
		}
	}
	value := newString(text)
	p.keep(f, dataOf(value))
	return value
}

var emptyString any = ""

// numberOf returns the number that a member is.
func (p *pass) numberOf(m *member, at place) any {
	if m.number < 256 { // the runtime has all of those
		if m.kind == anInt {
			return int64(m.number)
		}
		return math.Float64frombits(m.number)
	}
	kind, like := intPart, any(int64(0))
	if m.kind == aFloat {
		kind, like = floatPart, float64(0)
	}
	f := p.find(kind, at, (*[8]byte)(unsafe.Pointer(&m.number))[:])
	if f.Data != nil {
		if value := valueOf(like, f.Data); m.is(value) {
			f.luck.Hit(p.trial)
			return value
		}
	}
	bits := new(uint64)
	*bits = m.number
	p.keep(f, unsafe.Pointer(bits))
	return valueOf(like, unsafe.Pointer(bits))
}
