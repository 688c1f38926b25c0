package index

import (
	"hash/maphash"
	"iter"
	"unsafe"
)

// slot is an object with the key that it was stored under. The key is kept
// beside the object, so that a look-up compares it without touching the
// object, and so that nothing depends on the object staying unmodified.
//
// With a pointer as the object a slot has 32 bytes, and so none of a full page lies
// in two cache lines: that is why the name, a string, is kept as its two parts,
// with a length of 32 bits.
type slot[T Object] struct {
	hash      uint32 // of the key
	place     uint32 // the object's position plus one; 0: the slot is empty
	object    T
	text      *byte  // of the name
	size      uint32 // of the name, in bytes
	namespace uint32 // number of the posting in Indexer.namespaces
}

// newSlot returns a slot. The name should be a copy: copies lie close together in
// memory, whereas the object's own name may be anywhere, and a part of all that the
// object was decoded from.
func newSlot[T Object](hash, place uint32, name string, namespace uint32, obj T) slot[T] {
	return slot[T]{
		hash: hash, place: place, object: obj,
		text: unsafe.StringData(name), size: uint32(len(name)), namespace: namespace,
	}
}

func (s *slot[T]) name() string { return unsafe.String(s.text, s.size) }

// slots finds objects by their keys: open addressing with linear probing and
// deletion by shifting back, as in table, but with all that a look-up needs in
// the slot itself. In a large store every further place to look at is a wait
// for memory.
type slots[T Object] struct {
	vector[slot[T]] // its length is zero or a power of two
	used            uint32
}

// hashKey combines the hashes of both parts; the multiplier (2^64 divided by
// the golden ratio, as in Fibonacci hashing) keeps equal parts from cancelling
// each other out.
func hashKey(seed maphash.Seed, key Key) uint32 {
	h := maphash.String(seed, key.Namespace)*0x9e3779b97f4a7c15 + maphash.String(seed, key.Name)
	return uint32(h >> 32)
}

// findSlot returns the slot of key, nil if there is none.
func findSlot[T Object](in *pages[slot[T]], namespaces *pages[*posting[string]], hash uint32, key Key) *slot[T] {
	if in.n == 0 {
		return nil
	}
	mask := in.n - 1
	for i := hash; ; i++ {
		s := &in.table[i&mask>>pageBits][i&mask&pageMask]
		if s.place == 0 {
			return nil
		}
		if s.hash == hash && s.name() == key.Name && namespaces.at(s.namespace).key == key.Namespace {
			return s
		}
	}
}

// has reports whether there is an object whose key has the hash.
func (t *slots[T]) has(hash uint32) bool {
	if t.n == 0 {
		return false
	}
	mask := t.n - 1
	for i := hash & mask; ; i = (i + 1) & mask {
		switch s := &t.table[i>>pageBits][i&pageMask]; {
		case s.place == 0:
			return false
		case s.hash == hash:
			return true
		}
	}
}

// keysOf ranges over the keys of slots.
func keysOf[T Object](in pages[slot[T]], namespaces pages[*posting[string]]) iter.Seq[Key] {
	return func(yield func(Key) bool) {
		for _, page := range in.table {
			for i := range page {
				s := &page[i]
				if s.place != 0 && !yield(Key{Namespace: namespaces.at(s.namespace).key, Name: s.name()}) {
					return
				}
			}
		}
	}
}

// number returns the number of the slot of the object at pos, which is there.
func (t *slots[T]) number(hash, pos uint32) uint32 {
	mask := t.n - 1
	for i := hash & mask; ; i = (i + 1) & mask {
		if s := &t.table[i>>pageBits][i&pageMask]; s.place == pos+1 && s.hash == hash {
			return i
		}
	}
}

// change returns slot number i, to be written to.
func (t *slots[T]) change(gen uint64, i uint32) *slot[T] {
	return &t.own(gen, i>>pageBits)[i&pageMask]
}

// insert adds s, whose key must not be there yet.
func (t *slots[T]) insert(gen uint64, s slot[T]) {
	if (t.used+1)*8 > t.n*7 {
		t.resize(gen, max(minTable, t.n*2))
	}
	t.put(gen, s)
	t.used++
}

func (t *slots[T]) put(gen uint64, s slot[T]) {
	mask := t.n - 1
	i := s.hash & mask
	for t.table[i>>pageBits][i&pageMask].place != 0 {
		i = (i + 1) & mask
	}
	*t.change(gen, i) = s
}

// remove takes out the object at pos, which is there.
func (t *slots[T]) remove(gen uint64, hash, pos uint32) {
	mask := t.n - 1
	hole := t.number(hash, pos)
	for i := hole; ; {
		i = (i + 1) & mask
		s := &t.table[i>>pageBits][i&pageMask]
		if s.place == 0 {
			break
		}
		if home := s.hash & mask; (i-home)&mask >= (i-hole)&mask {
			*t.change(gen, hole) = *s
			hole = i
		}
	}
	*t.change(gen, hole) = slot[T]{}
	t.used--
	if t.n > minTable && t.used*8 < t.n {
		t.resize(gen, t.n/2)
	}
}

// reserve makes room for n objects.
func (t *slots[T]) reserve(gen uint64, n uint32) {
	size := max(minTable, t.n)
	for n*8 > size*7 {
		size *= 2
	}
	if n > 0 && size > t.n {
		t.resize(gen, size)
	}
}

func (t *slots[T]) resize(gen uint64, n uint32) {
	old := t.pages
	t.vector = makeVector[slot[T]](gen, n)
	for _, page := range old.table {
		for i := range page {
			if page[i].place != 0 {
				t.put(gen, page[i])
			}
		}
	}
}
