package jsontree

import (
	"github.com/kubetyped/informer/internal/decode/parts"
	"github.com/kubetyped/informer/internal/decode/plan"
)

// pass decodes one object after the other, one at a time.
type pass struct {
	decoder *Decoder
	text    []byte
	pos     int  // of the next byte of text
	depth   int  // of objects and arrays
	trial   bool // what is found in the table is counted
	looked  int  // how many bytes were looked up there

	// members are those of the objects and arrays that pos is in: of each, what has
	// been read so far, from the outermost to the innermost.
	members []member
	skipped int              // how many of these the mask leaves out
	spell   []byte           // texts of strings that have escapes
	differ  []int            // where values begin that are known to differ, the last first
	spare   int              // for how many bytes room may be made in vain
	keys    parts.Recent     // of maps
	strings [stringCount]any // by hash
	none    map[string]any   // an object of no members that is shared, or nil
}

const (
	// maxDepth is how deep objects and arrays may be in each other here.
	maxDepth = 200
	// maxMembers is of how many members memory is kept for the next object.
	maxMembers = 1 << 12
	// maxUnordered is how many members of an object may come in any order. The ones
	// after them are in order, or the object is left to apimachinery.
	maxUnordered = 3000
	// maxSpell is of how many bytes it is.
	maxSpell = 1 << 16
)

// place is where in objects a value is: a hash of the keys that lead to it.
type place uint32

// root decodes an object that is all of the text.
func (p *pass) root(like map[string]any) (map[string]any, bool) {
	if p.next() != '{' || !p.object(like, 0, p.decoder.mask) || p.next() != 0 || p.pos < len(p.text) {
		return nil, false
	}
	return p.makeMap(p.members, 0), true
}

// reset forgets the object. It returns false if the pass takes too much memory.
func (p *pass) reset() bool {
	clear(p.members[:cap(p.members)])
	p.text, p.members, p.spell, p.differ, p.depth, p.skipped = nil, p.members[:0], p.spell[:0], p.differ[:0], 0, 0
	return cap(p.members) <= maxMembers && cap(p.spell) <= maxSpell
}

// value reads the value that begins at pos, and has read the member of that number
// then. It is at, and like is the value that is like it, if has is true.
func (p *pass) value(number int, like any, has bool, at place, mask *plan.Mask) bool {
	switch c := p.next(); c {
	case '"':
		text, ok := p.string()
		if !ok {
			return false
		}
		m := &p.members[number]
		if s, ok := like.(string); ok && s == string(text) {
			m.take(like)
		} else {
			m.said(text)
		}
		return true
	case '{', '[':
		if p.depth == maxDepth {
			return false
		}
		p.depth++
		ok := false
		if c == '{' {
			ok = p.nested(number, like, at, mask)
		} else {
			ok = p.array(number, like, at, mask)
		}
		p.depth--
		return ok
	case 't':
		p.members[number].literal(true, like)
		return p.literal("true")
	case 'f':
		p.members[number].literal(false, like)
		return p.literal("false")
	case 'n':
		m := &p.members[number]
		m.kind, m.value, m.same = aValue, nil, has && like == nil
		return p.literal("null")
	default:
		return p.number(&p.members[number], like)
	}
}

// object reads the members of an object, the brace of which is at pos.
func (p *pass) object(was map[string]any, at place, mask *plan.Mask) bool {
	p.pos++
	first := len(p.members)
	c := p.next()
	if c == '}' {
		p.pos++
		return true
	}
	for ; c == '"'; c = p.next() {
		key, ok := p.string()
		if !ok || p.next() != ':' {
			return false
		}
		p.pos++
		if !p.member(key, first, was, at, mask) {
			return false
		}
		end := p.next()
		p.pos++
		if end != ',' {
			return end == '}'
		}
	}
	return false
}

// member reads the value of a member of the object whose members begin with the first.
func (p *pass) member(key []byte, first int, was map[string]any, at place, mask *plan.Mask) bool {
	within, decoded := mask.Field(text(key))
	if !decoded {
		_, ok := p.skip()
		return ok
	}
	number, hash := len(p.members), parts.HashOf(key)
	p.push(member{key: text(key), hash: hash})
	like, has := was[string(key)]
	ok := p.value(number, like, has, at.of(hash), within)
	if p.skipped > 0 {
		p.members = p.members[:number]
	}
	return ok && (number-first < maxUnordered || p.members[number-1].key < p.members[number].key)
}

// push adds a member.
func (p *pass) push(m member) { p.members = append(grown(p.members, 1), m) }

// grown returns a slice that has room for more elements. It doubles what there is: append
// would allocate five times as many bytes as there are in the end.
func grown[E any](s []E, more int) []E {
	if cap(s)-len(s) >= more {
		return s
	}
	return append(make([]E, 0, max(16, 2*len(s), len(s)+more)), s...)
}

// nested reads an object that is the value of a member.
func (p *pass) nested(number int, like any, at place, mask *plan.Mask) bool {
	was, _ := like.(map[string]any)
	begin, first := p.pos, len(p.members)
	if !p.object(was, at, mask) {
		return false
	}
	all := p.members[first:]
	m := &p.members[number]
	switch {
	case p.skipped > 0:
	case was != nil && len(was) == len(all) && allSame(all) && distinct(all):
		m.take(like)
	default:
		m.kind, m.value = aValue, p.mapOf(all, p.text[begin:p.pos], at)
	}
	p.members = p.members[:first]
	return true
}

// array reads an array that is the value of a member.
func (p *pass) array(number int, like any, at place, mask *plan.Mask) bool {
	was, _ := like.([]any)
	begin, first := p.pos, len(p.members)
	before := beginning{was: was}
	if !p.elements(&before, at, mask) {
		return false
	}
	all := p.members[first:]
	m := &p.members[number]
	switch {
	case p.skipped > 0:
	case was != nil && before.made == nil && len(was) == before.same+len(all) && cap(was) == len(was) && allSame(all):
		m.take(like)
	case !before.isEmpty():
		m.kind, m.value = aValue, before.slice(p, all, at)
	default:
		m.kind, m.value = aValue, p.sliceOf(all, p.text[begin:p.pos], at)
	}
	p.members = p.members[:first]
	return true
}

// elements reads the elements of an array, the bracket of which is at pos. They are
// members without keys, all at one place. Of many, those that come first are not members
// any more, but before them.
func (p *pass) elements(before *beginning, at place, mask *plan.Mask) bool {
	p.pos++
	was, first := before.was, len(p.members)
	if p.next() == ']' {
		p.pos++
		return true
	}
	for n := 0; ; n++ {
		number := len(p.members)
		p.push(member{})
		var like any
		has := n < len(was)
		if has {
			like = was[n]
		}
		if !p.value(number, like, has, at, mask) {
			return false
		}
		if p.skipped > 0 {
			p.members = p.members[:number]
		} else if len(p.members)-first == manyElements {
			before.add(p, p.members[first:], at)
			p.members = p.members[:first]
		}
		end := p.next()
		p.pos++
		if end != ',' {
			return end == ']'
		}
	}
}
