package jsontree

import (
	"reflect"
	"unsafe"

	"github.com/kubetyped/informer/internal/layout"
)

// equals consumes a value, and reports whether decoding it into a zero value gives the
// value at like. If it is not, it has consumed a part of it. Where apimachinery would
// have to decide, it says no.
func (p *pass) equals(n *node, like unsafe.Pointer) bool {
	c := p.next()
	if n.kind == opaqueNode {
		text, ok := p.skip()
		return ok && n.opaque.equals(like, text)
	}
	if c == 'n' {
		return p.literal("null") && layout.Memory{Offset: 0, Length: n.of.Size()}.IsZero(like)
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
		return like != nil && p.equals(n.elem, like)
	case sliceNode:
		return c == '[' && p.equalSlice(n, (*layout.Slice)(like))
	case mapNode:
		return c == '{' && p.equalTable(n, like)
	case anyNode:
		return p.equalInterface((*any)(like))
	case bytesNode:
		var made []byte
		was := (*[]byte)(like)
		return c == '"' && p.bytes(&made, was) && *was != nil && unsafe.SliceData(made) == unsafe.SliceData(*was) && len(made) == len(*was)
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
	for _, f := range n.known {
		if !seen.Has(f.ordinal) && !f.IsZero(like) {
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
func (p *pass) equalSlice(n *node, like *layout.Slice) bool {
	k, size := 0, n.elem.of.Size()
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
	first := len(p.members)
	same := p.equalTexts
	if n.of != reflect.TypeFor[map[string]string]() {
		same = p.equalElements(n, value)
	}
	ok := p.each('}', func() bool {
		key, ok := p.named()
		if !ok {
			return false
		}
		p.members = append(p.members, member{key: key, hash: hashOf(key)})
		return same(key, like)
	}) && len(p.members)-first == value.Len() && distinct(p.members[first:])
	p.members = p.members[:first]
	return ok
}

// equalTexts compares what comes next with an element of a map of strings.
func (p *pass) equalTexts(key []byte, like unsafe.Pointer) bool {
	was, has := (*(*map[string]string)(like))[string(key)]
	if p.next() != '"' {
		return false
	}
	said, ok := p.string()
	return ok && has && was == string(said)
}

// equalElements returns a function that does that for any map.
func (p *pass) equalElements(n *node, value reflect.Value) func([]byte, unsafe.Pointer) bool {
	name, element := reflect.New(n.of.Key()).Elem(), reflect.New(n.elem.of)
	return func(key []byte, _ unsafe.Pointer) bool {
		name.SetString(text(key))
		found := value.MapIndex(name)
		if !found.IsValid() {
			return false
		}
		element.Elem().Set(found)
		return p.equals(n.elem, element.UnsafePointer())
	}
}

func (p *pass) equalInterface(like *any) bool {
	number := len(p.members)
	p.members = append(p.members, member{})
	ok := p.value(number, *like, true, 0, nil) && p.members[number].same
	p.members = p.members[:number]
	return ok
}
