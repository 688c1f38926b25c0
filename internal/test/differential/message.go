package differential

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
)

// The wire types of protobuf.
const (
	varintType = iota
	fixed64Type
	bytesType
	groupType
	groupEndType
	fixed32Type
)

// part is a field of a message, as it is written.
type part struct {
	number, wire uint64
	tag          []byte // nil: the shortest
	length       []byte // of bytes; nil: theirs, the shortest
	value        []byte
}

// split returns the fields of a message. It returns false if it is none, or has groups.
func split(data []byte) (all []part, ok bool) {
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 || tag>>3 == 0 || tag>>32 != 0 {
			return nil, false
		}
		p := part{number: tag >> 3, wire: tag & 7, tag: data[:n:n]}
		data = data[n:]
		size := 0
		switch p.wire {
		case varintType:
			_, size = binary.Uvarint(data)
		case fixed64Type:
			size = 8
		case fixed32Type:
			size = 4
		case bytesType:
			length, n := binary.Uvarint(data)
			if n <= 0 || length > uint64(len(data)-n) {
				return nil, false
			}
			data, size = data[n:], int(length)
		}
		if size <= 0 && p.wire != bytesType || size > len(data) {
			return nil, false
		}
		p.value, data = data[:size:size], data[size:]
		all = append(all, p)
	}
	return all, true
}

// join returns the message of fields.
func join(all []part) []byte {
	data := []byte{}
	for _, p := range all {
		if p.tag != nil {
			data = append(data, p.tag...)
		} else {
			data = binary.AppendUvarint(data, p.number<<3|p.wire)
		}
		switch {
		case p.wire != bytesType:
		case p.length != nil:
			data = append(data, p.length...)
		default:
			data = binary.AppendUvarint(data, uint64(len(p.value)))
		}
		data = append(data, p.value...)
	}
	return data
}

// changeMessage changes a message, or one in it, at one place.
func changeMessage(r *rand.Rand, data []byte, deepest int) []byte {
	all, ok := split(data)
	if !ok || len(all) == 0 && !rarely(r, 3) {
		return changeBytes(r, data)
	}
	if deepest > 0 && len(all) > 0 && !rarely(r, 4) {
		for range 4 {
			p := &all[r.IntN(len(all))]
			if _, isMessage := split(p.value); p.wire == bytesType && len(p.value) > 0 && (isMessage || rarely(r, 6)) {
				p.value = changeMessage(r, p.value, deepest-1)
				return join(all)
			}
		}
	}
	if len(all) == 0 {
		return join([]part{unknownField(r)})
	}
	return join(one(r, messageChanges)(r, all, r.IntN(len(all))))
}

// oddVarints are numbers that are large, negative, or written in more bytes than they need.
var oddVarints = [][]byte{
	{0}, {1}, {0x80, 0}, {0x81, 0x80, 0}, {0xff, 0x7f}, {0xff, 0xff, 0xff, 0xff, 7}, {0x80, 0x80, 0x80, 0x80, 8}, {0xff, 0xff, 0xff, 0xff, 0x1f},
	{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
	{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1},
}

// oddTexts are unusual values of strings, and of fields that are written as strings.
var oddTexts = []string{
	"", "a", "\xff", "\xed\xa0\x80", "\x00", "null", "{}", "1", "0.5", "1e3", "100m", "1Ki", "9999999999999999999", "-", "é", "<&\u2028",
	`{"f:a":{}}`, `{"f:a": {}}`, `{"f:a":{}}x`,
}

// unknownField returns a field that most messages do not have.
func unknownField(r *rand.Rand) part {
	p := part{number: 1 + r.Uint64N(40), wire: one(r, []uint64{varintType, fixed64Type, bytesType, groupType, fixed32Type})}
	if rarely(r, 3) {
		p.number = one(r, []uint64{100, 1000, 65535, 65536, 1<<29 - 1})
	}
	switch p.wire {
	case varintType:
		p.value = one(r, oddVarints)
	case fixed64Type:
		p.value = []byte("12345678")
	case fixed32Type:
		p.value = []byte("1234")
	case groupType:
		p.value = binary.AppendUvarint([]byte{3<<3 | bytesType, 1, 'x'}, p.number<<3|groupEndType)
	default:
		p.value = []byte(one(r, oddTexts))
	}
	return p
}

// messageChanges change the fields of a message, at one of them.
var messageChanges = []func(r *rand.Rand, all []part, i int) []part{
	func(r *rand.Rand, all []part, _ int) []part {
		return slices.Insert(all, r.IntN(len(all)+1), unknownField(r))
	},
	func(_ *rand.Rand, all []part, i int) []part { return slices.Delete(all, i, i+1) },
	func(r *rand.Rand, all []part, i int) []part { // once more, there or elsewhere
		return slices.Insert(all, one(r, []int{i, i + 1, len(all), 0}), all[i])
	},
	func(r *rand.Rand, all []part, i int) []part { // several times
		return slices.Insert(all, i, slices.Repeat(all[i:i+1], 1+r.IntN(4))...)
	},
	func(r *rand.Rand, all []part, i int) []part {
		j := r.IntN(len(all))
		all[i], all[j] = all[j], all[i]
		return all
	},
	func(r *rand.Rand, all []part, _ int) []part {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return all
	},
	inTwo,
	anotherType,
	func(r *rand.Rand, all []part, i int) []part { // another value
		switch all[i].wire {
		case varintType:
			all[i].value = one(r, oddVarints)
		case bytesType:
			all[i].value = []byte(one(r, oddTexts))
		}
		return all
	},
	longer,
	func(r *rand.Rand, all []part, i int) []part { // no field of a message
		return slices.Insert(all, i, one(r, []part{
			{tag: []byte{bytesType}, wire: bytesType, value: []byte("x")}, {tag: []byte{varintType}, value: []byte{1}}, // of the number 0
			{tag: []byte{6}}, {tag: []byte{7}}, {tag: []byte{groupEndType | 1<<3}}, {tag: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 1}},
		}))
	},
	func(r *rand.Rand, all []part, i int) []part { // another one of the number
		return slices.Insert(all, i+1, smallEdit(r, []part{all[i]}, 0)...)
	},
	entries,
	func(r *rand.Rand, all []part, i int) []part { // what another field has
		if from := one(r, all); from.wire == all[i].wire {
			all[i].value, all[i].length = from.value, nil
		}
		return all
	},
	smallEdit, smallEdit, smallEdit, smallEdit, smallEdit, // as updates are
}

// inTwo splits a message in two, with some of its fields each.
func inTwo(r *rand.Rand, all []part, i int) []part {
	within, ok := split(all[i].value)
	if !ok || all[i].wire != bytesType || len(within) < 2 {
		return all
	}
	second, cut := all[i], 1+r.IntN(len(within)-1)
	all[i].value, second.value = join(within[:cut]), join(within[cut:])
	return slices.Insert(all, one(r, []int{i + 1, len(all)}), second)
}

// anotherType gives a field a wire type that is not its own.
func anotherType(r *rand.Rand, all []part, i int) []part {
	other := unknownField(r)
	if rarely(r, 3) && all[i].wire == varintType { // several of them, packed
		other = part{wire: bytesType, value: slices.Concat(all[i].value, []byte{5, 6})}
	}
	other.number = all[i].number
	all[i] = other
	return all
}

// longer writes a tag or a length in more bytes than it needs, or a length that is wrong.
func longer(r *rand.Rand, all []part, i int) []part {
	more := func(n uint64) []byte {
		text := binary.AppendUvarint(nil, n)
		text[len(text)-1] |= 0x80
		return append(text, 0)
	}
	p := &all[i]
	switch {
	case r.IntN(3) == 0:
		p.tag = more(p.number<<3 | p.wire)
	case r.IntN(2) == 0:
		p.length = more(uint64(len(p.value)))
	default:
		p.length = one(r, oddVarints)
	}
	return all
}

// entries changes what may be the entry of a map: a key without a value, the other way
// round, both in another order or twice, or with something more.
func entries(r *rand.Rand, all []part, i int) []part {
	within, ok := split(all[i].value)
	if !ok || all[i].wire != bytesType || len(within) != 2 {
		return all
	}
	all[i].value = join(one(r, [][]part{
		within[:1], within[1:], {within[1], within[0]}, {within[0], within[1], within[0]}, {within[0], within[1], within[1]}, {within[0], within[1], unknownField(r)},
	}))
	return all
}

// smallEdit changes a character, or a number.
func smallEdit(r *rand.Rand, all []part, i int) []part {
	p := &all[i]
	switch {
	case p.wire == varintType:
		p.value = binary.AppendUvarint(nil, r.Uint64N(1000))
	case len(p.value) > 0:
		p.value = slices.Clone(p.value)
		p.value[r.IntN(len(p.value))] = "abc019-"[r.IntN(7)]
	}
	return all
}

// changeBytes changes any bytes.
func changeBytes(r *rand.Rand, data []byte) []byte {
	data = slices.Clone(data)
	i := r.IntN(len(data) + 1)
	switch how := r.IntN(4); {
	case how == 0:
		return data[:i]
	case how == 1:
		return slices.Insert(data, i, byte(r.IntN(256)))
	case i == len(data):
		return data
	case how == 2:
		data[i] ^= 1 << r.IntN(8)
		return data
	default:
		return slices.Delete(data, i, i+1+r.IntN(len(data)-i))
	}
}
