package plan

import (
	"math"
	"reflect"
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// decoder decodes one object.
type decoder struct {
	parts   *parts.Table // nil: parts are not shared
	related bool         // the like object is not the last state of the object, but a relative
	trial   bool         // hits are counted
	depth   int          // of messages
	// spare is the number of bytes that may still be compared with parts of the pool in vain. A map in
	// which a key comes twice is never the same, and would be compared again at each level around it.
	spare  int
	differ differing
	// own is set if values are to be as JSON has them; unfit if one of them is not.
	own, unfit bool

	recent *parts.Recent // texts, of this object and of those that were decoded before
}

const (
	// maxDepth is how deep messages may be in each other here.
	maxDepth = 200
	// maxLookedUp is how deep those are that are looked up in the pool: bytes are
	// looked up once for each part that they are in.
	maxLookedUp = 16
)

// compares reports whether to compare a value as a whole with that of the like object. It is
// always compared with that of the object's last state.
func (d *decoder) compares(at *site) bool {
	return !d.related || at == nil || at.related.Try(d.trial)
}

// same notes that a value is that of the like object.
func (d *decoder) same(at *site) {
	if d.related && at != nil {
		at.related.Hit(d.trial)
	}
}

// message decodes data into the zero value at to. The value at like, if it is not
// nil, is what parts are taken from that are the same. It returns false where the
// generated code has to decide; what is at to is of no use then.
//
//nolint:gocyclo // one loop over the bytes, as in generated code
func (d *decoder) message(m *message, to, like unsafe.Pointer, data []byte) bool {
	var seen parts.FieldSet
	if d.depth++; d.depth > maxDepth {
		return false
	}
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
		at, was := unsafe.Add(to, f.Offset), unsafe.Pointer(nil)
		if like != nil {
			was = unsafe.Add(like, f.Offset)
		}
		if f.shape == slice || f.shape == table {
			end, n := run(data, begin, tag)
			if end < 0 {
				return false
			}
			if !d.run(f, at, was, data[begin:end], n) {
				return false
			}
			i = end
			continue
		}
		if f.wire == varintType {
			from := i
			value, end := varint(data, i)
			if i = end; i < 0 {
				return false
			}
			if f.shape == pointer {
				*(*unsafe.Pointer)(at) = d.pointer(f, was, data[from:i])
			} else {
				f.kind.store(at, value)
			}
			continue
		}
		first, end := span(data, i)
		if end < 0 {
			return false
		}
		i = end
		if f.shape == pointer {
			p := d.pointer(f, was, data[first:end])
			if p == nil {
				return false
			}
			*(*unsafe.Pointer)(at) = p
		} else if !d.value(f, at, was, data[first:end]) {
			return false
		}
	}
	d.depth--
	return m.absent == nil || d.complete(m, to, &seen)
}

// field returns the field that has a number, nil if it is not decoded.
func (m *message) field(number uint64) *field {
	if number >= uint64(len(m.fields)) {
		return nil
	}
	f := &m.fields[number]
	if f.kind == kindNone {
		return nil
	}
	return f
}

// store stores an integer or a truth value.
func (k kind) store(at unsafe.Pointer, value uint64) {
	switch k {
	case kindBool:
		*(*bool)(at) = value != 0
	case kind32:
		*(*uint32)(at) = uint32(value)
	case kind64:
		*(*uint64)(at) = value
	case kindWide:
		*(*int64)(at) = int64(int32(value))
	}
}

// value decodes the bytes of a value that is not a number.
func (d *decoder) value(f *field, at, was unsafe.Pointer, data []byte) bool {
	switch f.kind {
	case kindString:
		*(*string)(at) = d.text(f, was, data)
	case kindBytes:
		if len(data) > 0 || !f.emptyIsNil {
			*(*[]byte)(at) = d.bytes(f, was, data)
		}
	case kindMessage:
		return d.message(f.message, at, was, data)
	case kindOpaque:
		return f.opaque.decode(at, data) == nil
	}
	return true
}

// pointer returns a pointer to the value that is decoded, nil if there is none.
func (d *decoder) pointer(f *field, was unsafe.Pointer, data []byte) unsafe.Pointer {
	var like unsafe.Pointer
	if was != nil {
		like = *(*unsafe.Pointer)(was)
		if like != nil && !f.caches && d.compares(f.whole) && !d.differ.has(data) && f.equals(&d.differ, like, data) {
			d.same(f.whole)
			return like
		}
	}
	found, ticket := d.find(f.whole, data)
	if found.Data != nil {
		if f.equals(nil, found.Data, data) {
			f.whole.pool.Hit(d.trial)
			return found.Data
		}
		d.spare -= len(data)
	}
	p := reflect.New(f.elem).UnsafePointer()
	if f.wire == varintType {
		value, _ := varint(data, 0)
		f.kind.store(p, value)
	} else if !d.value(f, p, like, data) {
		return nil
	}
	d.keep(ticket, parts.Part{Data: p, Len: 1})
	return p
}

// text returns a string.
func (d *decoder) text(f *field, was unsafe.Pointer, data []byte) string {
	if len(data) == 0 {
		return ""
	}
	if was != nil && *(*string)(was) == string(data) {
		return *(*string)(was)
	}
	if d.own && !utf8.Valid(data) {
		d.unfit = true // in JSON, it has other letters
		return ""
	}
	if len(data) == 1 {
		return string(data) // the runtime has all of those
	}
	if len(data) > parts.LongestRecent {
		return d.sharedText(f, data)
	}
	known := d.recent.At(parts.HashOf(data))
	if *known != string(data) {
		*known = d.sharedText(f, data)
	}
	return *known
}

// sharedText returns a string of the pool, or a new one.
func (d *decoder) sharedText(f *field, data []byte) string {
	found, ticket := d.find(f.each, data)
	if found.Data != nil {
		if text := unsafe.String((*byte)(found.Data), found.Len); text == string(data) {
			f.each.pool.Hit(d.trial)
			return text
		}
	}
	text := string(data)
	d.keep(ticket, parts.Part{Data: unsafe.Pointer(unsafe.StringData(text)), Len: len(text)})
	return text
}

// bytes returns a slice of bytes without room for more.
func (d *decoder) bytes(f *field, was unsafe.Pointer, data []byte) []byte {
	if len(data) == 0 {
		return []byte{}
	}
	if was != nil && string(*(*[]byte)(was)) == string(data) {
		return slices.Clip(*(*[]byte)(was))
	}
	found, ticket := d.find(f.each, data)
	if found.Data != nil {
		if b := unsafe.Slice((*byte)(found.Data), found.Len); string(b) == string(data) {
			f.each.pool.Hit(d.trial)
			return b
		}
	}
	b := make([]byte, len(data))
	copy(b, data)
	d.keep(ticket, parts.Part{Data: unsafe.Pointer(unsafe.SliceData(b)), Len: len(b)})
	return b
}

// run decodes the n values of a slice or map; data are those values with their
// tags.
func (d *decoder) run(f *field, at, was unsafe.Pointer, data []byte, n int) bool {
	if f.shape == table {
		return d.table(f, at, was, data, n)
	}
	var like parts.Slice
	if was != nil {
		like = *(*parts.Slice)(was)
		if !f.caches && d.compares(f.whole) && !d.differ.has(data) && f.equalElements(&d.differ, like.Data, like.Len, data, n) {
			d.same(f.whole)
			*(*parts.Slice)(at) = parts.Slice{Data: like.Data, Len: n, Cap: n}
			return true
		}
	}
	found, ticket := d.find(f.whole, data)
	if found.Data != nil {
		if f.equalElements(nil, found.Data, found.Len, data, n) {
			f.whole.pool.Hit(d.trial)
			*(*parts.Slice)(at) = parts.Slice{Data: found.Data, Len: n, Cap: n}
			return true
		}
		d.spare -= len(data)
	}
	made := reflect.NewAt(f.of, at).Elem()
	made.Grow(n)
	made.SetLen(n)
	made.SetCap(n)
	elements := (*parts.Slice)(at).Data
	each := values{data: data}
	for k := range n {
		element := unsafe.Add(elements, uintptr(k)*uintptr(f.size))
		value, number := each.next()
		if f.wire == varintType {
			f.kind.store(element, number)
			continue
		}
		var before unsafe.Pointer
		if k < like.Len {
			before = unsafe.Add(like.Data, uintptr(k)*uintptr(f.size))
		}
		if !d.value(f, element, before, value) {
			return false
		}
	}
	d.keep(ticket, parts.Part{Data: elements, Len: n})
	return true
}

// values are the values of a field that follow each other, as run has found them.
type values struct{ data []byte }

// next returns the next value, its bytes or the number that it is.
func (v *values) next() (value []byte, number uint64) {
	tag, i := varint(v.data, 0)
	if tag&7 == varintType {
		number, i = varint(v.data, i)
		v.data = v.data[i:]
		return nil, number
	}
	begin, end := span(v.data, i)
	value = v.data[begin:end:end]
	v.data = v.data[end:]
	return value, 0
}
