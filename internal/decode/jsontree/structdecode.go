package jsontree

import (
	"encoding/base64"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// deeper begins an object or array.
func (p *pass) deeper() bool {
	p.depth++
	return p.depth < maxDepth
}

// skip consumes a value, and returns its text.
func (p *pass) skip() ([]byte, bool) {
	p.next()
	begin, number := p.pos, len(p.members)
	p.push(member{})
	p.skipped++
	ok := p.value(number, nil, false, 0, nil)
	p.skipped--
	p.members = p.members[:number]
	return p.text[begin:min(p.pos, len(p.text))], ok
}

// each consumes an object or array, from its bracket to the closing one, and calls a function
// for each member or element. After each call it drops the text that the function has spelled
// out.
func (p *pass) each(closing byte, one func() bool) bool {
	p.pos++
	if !p.deeper() {
		return false
	}
	spelled := len(p.spell)
	for first := true; ; first = false {
		c := p.next()
		if first && c == closing {
			break
		}
		if !one() {
			return false
		}
		p.spell = p.spell[:spelled]
		if c = p.next(); c == closing {
			break
		}
		if c != ',' {
			return false
		}
		p.pos++
	}
	p.pos++
	p.depth--
	return true
}

// named reads a key and the colon behind it.
func (p *pass) named() ([]byte, bool) {
	if p.next() != '"' {
		return nil, false
	}
	key, ok := p.string()
	if !ok || p.next() != ':' {
		return nil, false
	}
	p.pos++
	return key, true
}

// decode decodes a value into the zero value at to. The value at like, if it is not nil,
// is what parts are taken from that are the same. It returns false where apimachinery
// has to decide; what is at to is of no use then.
func (p *pass) decode(n *node, to, like unsafe.Pointer) bool {
	c := p.next()
	if n.kind == opaqueNode {
		text, ok := p.skip()
		return ok && n.opaque.decode(to, text) == nil
	}
	if c == 'n' { // which leaves anything as it is that is zero
		return p.literal("null")
	}
	switch n.kind {
	case stringNode:
		if c != '"' {
			return false
		}
		text, ok := p.string()
		if ok {
			*(*string)(to) = p.stringLike((*string)(like), text)
		}
		return ok
	case structNode:
		return c == '{' && p.structure(n, to, like)
	case pointerNode:
		return p.pointer(n, to, like)
	case sliceNode:
		return c == '[' && p.slice(n, to, like)
	case mapNode:
		return c == '{' && p.table(n, to, like)
	case anyNode:
		return p.interfaceValue((*any)(to), (*any)(like))
	case bytesNode:
		return c == '"' && p.bytes((*[]byte)(to), (*[]byte)(like))
	default:
		return p.scalar(n, to)
	}
}

// stringLike returns a string.
func (p *pass) stringLike(like *string, text []byte) string {
	if like != nil && *like == string(text) {
		return *like
	}
	return p.key(text, parts.HashOf(text))
}

// scalar decodes a truth value or a number.
func (p *pass) scalar(n *node, to unsafe.Pointer) bool {
	if n.kind == boolNode {
		*(*bool)(to) = p.at('t')
		if p.at('t') {
			return p.literal("true")
		}
		return p.literal("false")
	}
	var m member
	begin := p.pos
	if !p.number(&m, nil) {
		return false
	}
	written := p.text[begin:p.pos]
	value := reflect.NewAt(n.of, to).Elem()
	switch n.kind {
	case intNode:
		if m.kind != anInt || value.OverflowInt(int64(m.number)) {
			return false
		}
		value.SetInt(int64(m.number))
	case uintNode:
		if m.kind != anInt || written[0] == '-' || value.OverflowUint(m.number) {
			return false
		}
		value.SetUint(m.number)
	case floatNode:
		f, err := strconv.ParseFloat(text(written), n.of.Bits())
		if err != nil {
			return false
		}
		value.SetFloat(f)
	}
	return true
}

// eachField consumes an object, and calls a function for each of its members that is
// a field of a struct, which consumes the value. The others are checked, and skipped. It
// returns the fields that there were, and false where a field comes twice.
func (p *pass) eachField(n *node, one func(*field) bool) (seen parts.FieldSet, ok bool) {
	ok = p.each('}', func() bool {
		key, ok := p.named()
		if !ok {
			return false
		}
		f := n.fields[string(key)]
		if f == nil || f.node == nil {
			_, ok := p.skip()
			return ok
		}
		return !seen.Add(f.ordinal) && one(f)
	})
	return seen, ok
}

// structure decodes an object into a struct.
func (p *pass) structure(n *node, to, like unsafe.Pointer) bool {
	_, ok := p.eachField(n, func(f *field) bool {
		var was unsafe.Pointer
		if like != nil && !f.stamped {
			was = unsafe.Add(like, f.Offset)
		}
		return p.decode(f.node, unsafe.Add(to, f.Offset), was)
	})
	return ok
}

func (p *pass) pointer(n *node, to, like unsafe.Pointer) bool {
	var was unsafe.Pointer
	if like != nil {
		was = *(*unsafe.Pointer)(like)
	}
	if !n.elem.caches && p.compare(n.elem, was) {
		*(*unsafe.Pointer)(to) = was
		return true
	}
	made := reflect.New(n.elem.of).UnsafePointer()
	*(*unsafe.Pointer)(to) = made
	return p.decode(n.elem, made, was)
}

func (p *pass) slice(n *node, to, like unsafe.Pointer) bool {
	if p.compare(n, like) {
		*(*parts.Slice)(to) = *(*parts.Slice)(like)
		return true
	}
	var was parts.Slice
	if like != nil {
		was = *(*parts.Slice)(like)
	}
	size := n.elem.of.Size()
	room := p.room(was.Len, size)
	slice := reflect.New(n.of).Elem()
	slice.Set(reflect.MakeSlice(n.of, 0, room))
	ok := p.each(']', func() bool {
		k := slice.Len()
		if k == slice.Cap() {
			slice.Grow(1)
		}
		slice.SetLen(k + 1)
		var before unsafe.Pointer
		if k < was.Len {
			before = unsafe.Add(was.Data, uintptr(k)*size)
		}
		return p.decode(n.elem, unsafe.Add(slice.UnsafePointer(), uintptr(k)*size), before)
	})
	p.spare += min(room, slice.Len()) * int(size)
	if length := slice.Len(); length < slice.Cap() { // what is appended must not be seen by others
		made := reflect.MakeSlice(n.of, length, length)
		reflect.Copy(made, slice)
		slice = made
	}
	reflect.NewAt(n.of, to).Elem().Set(slice)
	return ok
}

// table decodes an object into a map.
func (p *pass) table(n *node, to, like unsafe.Pointer) bool {
	if p.compare(n, like) {
		*(*unsafe.Pointer)(to) = *(*unsafe.Pointer)(like)
		return true
	}
	made := reflect.MakeMap(n.of)
	reflect.NewAt(n.of, to).Elem().Set(made)
	texts, areTexts := reflect.NewAt(n.of, to).Interface().(*map[string]string)
	var element reflect.Value
	if !areTexts {
		element = reflect.New(n.elem.of).Elem()
	}
	return p.each('}', func() bool {
		key, ok := p.named()
		if !ok {
			return false
		}
		name := p.stringLike(nil, key)
		if areTexts {
			var text string
			ok := p.decode(n.elem, unsafe.Pointer(&text), nil)
			(*texts)[name] = text
			return ok
		}
		element.SetZero()
		if !p.decode(n.elem, element.Addr().UnsafePointer(), nil) {
			return false
		}
		made.SetMapIndex(reflect.ValueOf(name).Convert(n.of.Key()), element)
		return true
	})
}

// interfaceValue decodes any value.
func (p *pass) interfaceValue(to, like *any) bool {
	var was any
	if like != nil {
		was = *like
	}
	number := len(p.members)
	p.push(member{})
	if !p.value(number, was, like != nil, 0, nil) {
		return false
	}
	*to = p.made(&p.members[number], 0)
	p.members = p.members[:number]
	return true
}

// bytes decodes bytes in base64.
func (p *pass) bytes(to, like *[]byte) bool {
	said, ok := p.string()
	if !ok {
		return false
	}
	if like != nil && isBase64(said, *like) {
		*to = *like
		return true
	}
	made := make([]byte, base64.StdEncoding.DecodedLen(len(said)))
	size, err := base64.StdEncoding.Decode(made, said)
	*to = made[:size:size]
	return err == nil
}
