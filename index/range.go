package index

import "cmp"

// Range is a part of an [Ordered] index: the objects between two places in its order,
// which is that of the keys and, where these are the same, of the objects' namespaces
// and names. The zero Range is all of it.
//
// A range is read in pages by After, or Before when it is read backward: the last
// object of one page is where the next one begins, and it does not matter if that
// object is gone by then.
type Range[K cmp.Ordered] struct{ from, to *bound[K] }

// bound is a place between objects: just before the object of a key and a name, or just
// after it.
type bound[K cmp.Ordered] struct {
	key   K
	name  Key
	after bool
}

// From returns the range of all keys that are at least k.
func From[K cmp.Ordered](k K) Range[K] { return Range[K]{from: &bound[K]{key: k}} }

// Below returns the range of all keys that are less than k.
func Below[K cmp.Ordered](k K) Range[K] { return Range[K]{to: &bound[K]{key: k}} }

// Between returns the range of all keys that are at least from, and less than to.
func Between[K cmp.Ordered](from, to K) Range[K] {
	return Range[K]{from: &bound[K]{key: from}, to: &bound[K]{key: to}}
}

// Prefix returns the range of all keys that begin with p.
func Prefix(p string) Range[string] {
	r := Range[string]{from: &bound[string]{key: p}}
	end := []byte(p)
	for len(end) > 0 && end[len(end)-1] == 0xFF {
		end = end[:len(end)-1]
	}
	if len(end) > 0 {
		end[len(end)-1]++
		r.to = &bound[string]{key: string(end)}
	}
	return r
}

// After returns the part of r that comes after the object of the given name under the
// key k.
func (r Range[K]) After(k K, name Key) Range[K] {
	if p := (&bound[K]{key: k, name: name, after: true}); r.from == nil || r.from.compare(p.key, p.name) <= 0 {
		r.from = p
	}
	return r
}

// Before returns the part of r that comes before the object of the given name under the
// key k.
func (r Range[K]) Before(k K, name Key) Range[K] {
	if p := (&bound[K]{key: k, name: name}); r.to == nil || r.to.compare(p.key, p.name) >= 0 {
		r.to = p
	}
	return r
}

// isBefore reports whether an object comes before all of the range.
func (r Range[K]) isBefore(k K, name Key) bool {
	if r.from == nil {
		return false
	}
	c := r.from.compare(k, name)
	return c > 0 || c == 0 && r.from.after
}

// isAfter reports whether an object comes after all of the range.
func (r Range[K]) isAfter(k K, name Key) bool {
	return r.to != nil && r.to.compare(k, name) <= 0
}

func (p *bound[K]) compare(k K, name Key) int {
	return cmp.Or(cmp.Compare(p.key, k), cmp.Compare(p.name.Namespace, name.Namespace), cmp.Compare(p.name.Name, name.Name))
}
