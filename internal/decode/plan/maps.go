package plan

import (
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// The numbers of the fields of an entry of a map.
const (
	keyNumber   = 1
	valueNumber = 2
)

// entry splits the next value, an entry of a map; an absent key or value is empty. It returns
// false if anything else is unusual.
func (v *values) entry() (key, value []byte, ok bool) {
	data, _ := v.next()
	var seen [3]bool
	for i := 0; i < len(data); {
		tag := data[i]
		begin, end := span(data, i+1)
		if end < 0 {
			return nil, nil, false
		}
		switch tag {
		case keyNumber<<3 | bytesType:
			key = data[begin:end:end]
		case valueNumber<<3 | bytesType:
			value = data[begin:end:end]
		default:
			return nil, nil, false
		}
		if seen[tag>>3] {
			return nil, nil, false
		}
		seen[tag>>3] = true
		i = end
	}
	return key, value, true
}

// table decodes the n entries of a map.
func (d *decoder) table(f *field, at, was unsafe.Pointer, data []byte, n int) bool {
	var like unsafe.Pointer
	if was != nil {
		like = *(*unsafe.Pointer)(was)
		if like != nil && d.compares(f.whole) && !d.differ.has(data) && f.equalEntries(&d.differ, like, data, n) {
			d.same(f.whole)
			*(*unsafe.Pointer)(at) = like
			return true
		}
	}
	found, ticket := d.find(f.whole, data)
	if found.Data != nil {
		if f.equalEntries(nil, found.Data, data, n) {
			f.whole.pool.Hit(d.trial)
			*(*unsafe.Pointer)(at) = found.Data
			return true
		}
		d.spare -= len(data)
	}
	ok := false
	if f.kind == kindString {
		ok = d.texts(f, at, like, data, n)
	} else {
		ok = d.entries(f, at, data, n)
	}
	if ok {
		d.keep(ticket, parts.Part{Data: *(*unsafe.Pointer)(at), Len: 1})
	}
	return ok
}

// texts decodes the entries of a map of strings.
func (d *decoder) texts(f *field, at, like unsafe.Pointer, data []byte, n int) bool {
	made := make(map[string]string, room(data, n))
	each := values{data: data}
	for range n {
		key, value, ok := each.entry()
		if !ok {
			return false
		}
		if like != nil {
			if before, ok := (*(*map[string]string)(unsafe.Pointer(&like)))[string(key)]; ok && before == string(value) {
				made[d.text(f.key, nil, key)] = before
				continue
			}
		}
		made[d.text(f.key, nil, key)] = d.text(f, nil, value)
	}
	*(*map[string]string)(at) = made
	return true
}

// entries decodes the entries of any map whose keys are strings.
func (d *decoder) entries(f *field, at unsafe.Pointer, data []byte, n int) bool {
	made := reflect.MakeMapWithSize(f.of, room(data, n))
	key, element := reflect.New(f.of.Key()).Elem(), reflect.New(f.elem).Elem()
	each := values{data: data}
	for range n {
		name, value, ok := each.entry()
		if !ok {
			return false
		}
		key.SetString(d.text(f.key, nil, name))
		element.SetZero()
		if !d.value(f, element.Addr().UnsafePointer(), nil, value) {
			return false
		}
		made.SetMapIndex(key, element) // a copy
	}
	reflect.NewAt(f.of, at).Elem().Set(made)
	return true
}

// fewEntries is for how many entries room is made whatever their keys are.
const fewEntries = 16

// room returns for how many of n entries to make room in a map. If a key comes twice,
// there may be few.
func room(data []byte, n int) int {
	if n > fewEntries && !distinct(data, n) {
		return fewEntries
	}
	return n
}

// equalEntries reports whether decoding the n entries gives a map.
func (f *field) equalEntries(differ *differing, like unsafe.Pointer, data []byte, n int) bool {
	each := values{data: data}
	if f.kind == kindString {
		texts := *(*map[string]string)(unsafe.Pointer(&like))
		if len(texts) != n {
			return false
		}
		for range n {
			key, value, ok := each.entry()
			if !ok {
				return false
			}
			if text, ok := texts[string(key)]; !ok || text != string(value) {
				return false
			}
		}
		return distinct(data, n)
	}
	if f.elem == reflect.TypeFor[resource.Quantity]() {
		return equalQuantities(*(*map[string]resource.Quantity)(unsafe.Pointer(&like)), data, n)
	}
	return f.equalOthers(differ, like, data, n)
}

// equalQuantities is equalEntries for the maps that most containers have.
func equalQuantities(made map[string]resource.Quantity, data []byte, n int) bool {
	if len(made) != n {
		return false
	}
	each := values{data: data}
	for range n {
		key, value, ok := each.entry()
		if !ok {
			return false
		}
		decoded, err := quantityOf(value)
		if have, ok := made[string(key)]; !ok || err != nil || decoded != have {
			return false
		}
	}
	return distinct(data, n)
}

// equalOthers is equalEntries for other maps.
func (f *field) equalOthers(differ *differing, like unsafe.Pointer, data []byte, n int) bool {
	made := reflect.NewAt(f.of, unsafe.Pointer(&like)).Elem()
	if made.Len() != n {
		return false
	}
	each := values{data: data}
	key, element := reflect.New(f.of.Key()).Elem(), reflect.New(f.elem)
	for range n {
		name, value, ok := each.entry()
		if !ok {
			return false
		}
		key.SetString(string(name))
		found := made.MapIndex(key)
		if !found.IsValid() {
			return false
		}
		element.Elem().Set(found)
		if !f.equals(differ, element.UnsafePointer(), value) {
			return false
		}
	}
	return distinct(data, n)
}

// distinct reports whether the keys of entries are in ascending order, as they are
// written, so that none comes twice.
func distinct(data []byte, n int) bool {
	each := values{data: data}
	last := ""
	for k := range n {
		key, _, _ := each.entry()
		if k > 0 && string(key) <= last {
			return false
		}
		last = unsafe.String(unsafe.SliceData(key), len(key))
	}
	return true
}
