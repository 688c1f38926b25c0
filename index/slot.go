package index

import (
	"hash/maphash"
	"iter"
	"unsafe"
)

// slot is an object with the key that it was stored under, in a hashTable by the
// hash of that key; the place of its entry is the object's position plus one. The
// key is kept beside the object, so that a look-up compares it without touching the
// object, and so that nothing depends on the object staying unmodified.
//
// With a pointer as the object an entry has 32 bytes, half a cache line: that is
// why the text, a string, is kept as its two parts, with a length of 32 bits.
type slot[T Object] struct {
	object    T
	text      *byte  // the name; or the key as a string, see WithKeyStrings
	size      uint32 // of the text, in bytes
	namespace uint32 // number of the posting in Indexer.namespaces
}

// newSlot returns a slot. The text should be a copy: copies lie close together in
// memory, whereas the object's own name may be anywhere, and a part of all that the
// object was decoded from.
func newSlot[T Object](text string, namespace uint32, obj T) slot[T] {
	return slot[T]{object: obj, text: unsafe.StringData(text), size: uint32(len(text)), namespace: namespace}
}

func (s *slot[T]) string() string { return unsafe.String(s.text, s.size) }

// slots is the read side of the objects by their keys.
type slots[T Object] struct {
	buckets[slot[T]]
	seed    maphash.Seed
	strings bool // the keys are kept as strings, see WithKeyStrings
}

// keyBuffer has room for keys that are joined to be looked up.
type keyBuffer [160]byte

// join returns the key as a string, in the buffer if there is room; it is good as
// long as the buffer is.
func (b *keyBuffer) join(key Key) string {
	if key.Namespace == "" {
		return key.Name
	}
	joined := append(b[:0], key.Namespace...)
	joined = append(joined, '/')
	joined = append(joined, key.Name...)
	return unsafe.String(unsafe.SliceData(joined), len(joined))
}

// hash returns the hash of a key. The multiplier (2^64 divided by
// the golden ratio, as in Fibonacci hashing) keeps equal parts from cancelling
// each other out.
func (t *slots[T]) hash(key Key) uint32 {
	if t.strings {
		return hashString(t.seed, key)
	}
	return hashKey(t.seed, key)
}

// hashString returns the hash of a key as a string.
func hashString(seed maphash.Seed, key Key) uint32 {
	var buf keyBuffer
	return uint32(maphash.String(seed, buf.join(key)) >> 32)
}

func hashKey(seed maphash.Seed, key Key) uint32 {
	h := maphash.String(seed, key.Namespace)*0x9e3779b97f4a7c15 + maphash.String(seed, key.Name)
	return uint32(h >> 32)
}

// find returns the entry of key, nil if there is none.
func (t *slots[T]) find(namespaces *pages[posting[string]], hash uint32, key Key) *entry[slot[T]] {
	if t.strings {
		return findJoined(&t.buckets, hash, key)
	}
	return findSlot(&t.buckets, namespaces, hash, key)
}

// findSlot returns the entry of key, nil if there is none.
func findSlot[T Object](in *buckets[slot[T]], namespaces *pages[posting[string]], hash uint32, key Key) *entry[slot[T]] {
	bucket := in.bucket(hash)
	if len(bucket) == 0 {
		return nil
	}
	for i := home(hash, len(bucket)); ; {
		e := &bucket[i]
		if e.place == 0 {
			return nil
		}
		if e.hash == hash && e.value.string() == key.Name && namespaces.ref(e.value.namespace).key == key.Namespace {
			return e
		}
		if i++; i == len(bucket) {
			i = 0
		}
	}
}

// findJoined returns the entry of key, which is kept as a string.
func findJoined[T Object](in *buckets[slot[T]], hash uint32, key Key) *entry[slot[T]] {
	var buf keyBuffer
	return findString(in, hash, buf.join(key))
}

// findString returns the entry of a key that is kept as a string.
func findString[T Object](in *buckets[slot[T]], hash uint32, key string) *entry[slot[T]] {
	bucket := in.bucket(hash)
	if len(bucket) == 0 {
		return nil
	}
	for i := home(hash, len(bucket)); ; {
		e := &bucket[i]
		if e.place == 0 {
			return nil
		}
		if e.hash == hash && e.value.string() == key {
			return e
		}
		if i++; i == len(bucket) {
			i = 0
		}
	}
}

// keyAt returns the key of a slot.
func (t *slots[T]) keyAt(namespaces *pages[posting[string]], s *slot[T]) Key {
	key := Key{Namespace: namespaces.ref(s.namespace).key, Name: s.string()}
	if t.strings && key.Namespace != "" {
		key.Name = key.Name[len(key.Namespace)+1:]
	}
	return key
}

// keys ranges over the keys.
func (t slots[T]) keys(namespaces pages[posting[string]]) iter.Seq[Key] {
	return func(yield func(Key) bool) {
		for _, bucket := range t.table {
			for i := range bucket {
				if e := &bucket[i]; e.place != 0 && !yield(t.keyAt(&namespaces, &e.value)) {
					return
				}
			}
		}
	}
}

// keyStrings returns the n keys as strings.
func (t *slots[T]) keyStrings(namespaces *pages[posting[string]], n uint32) []string {
	if n == 0 {
		return nil
	}
	if !t.strings {
		list := keyTexts{texts: make([]string, 0, n)}
		for e := range t.all() {
			list.add(t.keyAt(namespaces, &e.value))
		}
		return list.texts
	}
	list := make([]string, 0, n)
	for _, bucket := range t.table {
		for i := range bucket {
			if e := &bucket[i]; e.place != 0 {
				list = append(list, e.value.string())
			}
		}
	}
	return list
}

// appendText appends the key of a slot as a string.
func (t *slots[T]) appendText(list *keyTexts, namespaces *pages[posting[string]], s *slot[T]) {
	if t.strings {
		list.texts = append(list.texts, s.string())
		return
	}
	list.add(t.keyAt(namespaces, s))
}
