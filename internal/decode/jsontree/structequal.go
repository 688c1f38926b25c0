package jsontree

import (
	"bytes"
	"reflect"
	"unsafe"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// equals consumes a value, and reports whether decoding it into a zero value gives the
// value at like. If it is not, it has consumed a part of it. Where apimachinery would
// have to decide, it says no.
func (p *pass) equals(n *node, like unsafe.Pointer) bool {
	c := p.next()
	begin := p.pos
	same := p.equalValue(n, like, c)
	if !same && (n.kind == pointerNode || n.kind == sliceNode || n.kind == mapNode) {
		p.differ = append(p.differ, begin)
	}
	return same
}

// equalValue compares a value that begins with c, at pos.
func (p *pass) equalValue(n *node, like unsafe.Pointer, c byte) bool {
	if n.kind == opaqueNode {
		text, ok := p.skip()
		return ok && n.opaque.equals(like, text)
	}
	if c == 'n' {
		return p.literal("null") && parts.Memory{Offset: 0, Length: uint32(n.of.Size())}.IsZero(like)
	}
	switch n.kind {
	case stringNode:
		if c != '"' {
			return false
		}
		text, ok := p.string()
		return ok && *(*string)(like) == string(text)
	case structNode:
		return c == '{' && p.equalStruct(n, like)
	case pointerNode:
		like = *(*unsafe.Pointer)(like)
		return like != nil && !n.elem.caches && p.equals(n.elem, like)
	case sliceNode:
		return c == '[' && p.equalSlice(n, (*parts.Slice)(like))
	case mapNode:
		return c == '{' && p.equalTable(n, like)
	case anyNode:
		return p.equalAny(*(*any)(like))
	case bytesNode:
		if c != '"' {
			return false
		}
		text, ok := p.string()
		return ok && isBase64(text, *(*[]byte)(like))
	default:
		return p.equalScalar(n, like)
	}
}

func (p *pass) equalScalar(n *node, like unsafe.Pointer) bool {
	var made [8]byte
	if !p.scalar(n, unsafe.Pointer(&made)) {
		return false
	}
	return string(made[:n.of.Size()]) == string(unsafe.Slice((*byte)(like), n.of.Size()))
}

func (p *pass) equalStruct(n *node, like unsafe.Pointer) bool {
	seen, ok := p.eachField(n, func(f *field) bool { return p.equals(f.node, unsafe.Add(like, f.Offset)) })
	if !ok {
		return false
	}
	for ordinal, part := range n.memory {
		if !seen.Has(uint8(ordinal)) && !part.IsZero(like) {
			return false
		}
	}
	for _, left := range n.left {
		if !left.IsZero(like) {
			return false
		}
	}
	return true
}

// equalSlice also wants no room after the slice.
func (p *pass) equalSlice(n *node, like *parts.Slice) bool {
	k, size := 0, n.elem.of.Size()
	if n.elem.caches && like.Len > 0 {
		return false
	}
	return like.Data != nil && like.Cap == like.Len && p.each(']', func() bool {
		k++
		return k <= like.Len && p.equals(n.elem, unsafe.Add(like.Data, uintptr(k-1)*size))
	}) && k == like.Len
}

func (p *pass) equalTable(n *node, like unsafe.Pointer) bool {
	value := reflect.NewAt(n.of, like).Elem()
	if value.IsNil() {
		return false
	}
	if n.of == reflect.TypeFor[map[string]string]() {
		return p.equalTexts(*(*map[string]string)(like))
	}
	name, element := reflect.New(n.of.Key()).Elem(), reflect.New(n.elem.of)
	return p.entries(value.Len(), func(key []byte) bool {
		name.SetString(text(key))
		found := value.MapIndex(name)
		if !found.IsValid() {
			return false
		}
		element.Elem().Set(found)
		return p.equals(n.elem, element.UnsafePointer())
	})
}

func (p *pass) equalTexts(like map[string]string) bool {
	return p.entries(len(like), func(key []byte) bool {
		was, has := like[string(key)]
		if p.next() != '"' {
			return false
		}
		said, ok := p.string()
		return ok && has && was == string(said)
	})
}

// entries consumes an object, and calls a function for each key, which consumes the
// value. It reports whether that was true for all of them, and they are so many and
// different from each other. As distinct, it is content with many only if they are in
// order.
func (p *pass) entries(count int, same func(key []byte) bool) bool {
	first, n, ordered := len(p.members), 0, true
	ok := p.each('}', func() bool {
		spelled := len(p.spell)
		key, ok := p.named()
		if !ok || n == count {
			return false
		}
		if len(p.spell) > spelled { // which is gone soon
			key = bytes.Clone(key)
		}
		ordered = ordered && (n == 0 || p.members[len(p.members)-1].key < text(key))
		m := member{key: text(key), hash: parts.HashOf(key)}
		switch {
		case n < maxCompared:
			p.push(m)
		case !ordered:
			return false
		default:
			p.members[len(p.members)-1] = m
		}
		n++
		return same(key)
	}) && n == count && (n > maxCompared || distinct(p.members[first:]))
	p.members = p.members[:first]
	return ok
}

// equalAny compares any value.
func (p *pass) equalAny(like any) bool {
	switch c := p.next(); c {
	case '"':
		said, ok := p.string()
		was, is := like.(string)
		return ok && is && was == string(said)
	case '{':
		was, _ := like.(map[string]any)
		return was != nil && p.entries(len(was), func(key []byte) bool {
			value, has := was[string(key)]
			return has && p.equalAny(value)
		})
	case '[':
		was, _ := like.([]any)
		k := 0
		return was != nil && cap(was) == len(was) && p.each(']', func() bool {
			k++
			return k <= len(was) && p.equalAny(was[k-1])
		}) && k == len(was)
	case 't', 'f':
		was, is := like.(bool)
		if c == 'f' {
			return is && !was && p.literal("false")
		}
		return is && was && p.literal("true")
	case 'n':
		return like == nil && p.literal("null")
	default:
		var m member
		return p.number(&m, like) && m.same
	}
}
