package index

import (
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
	tables[slot[T]]
	hasher  keyHasher
	strings bool // the keys are kept as strings, see WithKeyStrings
}

// hash returns the hash of a key.
func (t *slots[T]) hash(key Key) uint32 {
	if t.strings {
		return t.hasher.joined(key)
	}
	return t.hasher.key(key)
}

// find returns the entry of key, nil if there is none.
func (t *slots[T]) find(namespaces *pages[posting[string]], hash uint32, key Key) *entry[slot[T]] {
	if t.strings {
		var buf keyBuffer
		return findString(&t.tables, hash, buf.join(key))
	}
	return findSlot(&t.tables, namespaces, hash, key)
}

// findSlot returns the entry of key, nil if there is none.
func findSlot[T Object](in *tables[slot[T]], namespaces *pages[posting[string]], hash uint32, key Key) *entry[slot[T]] {
	t := in.table(hash)
	if t == nil {
		return nil
	}
	for g := t.home(hash); ; g = t.next(g) {
		word := t.words[g]
		for set := matching(word, hash); set != 0; set &= set - 1 {
			e := &t.groups[g][first(set)]
			if e.value.string() == key.Name && namespaces.ref(e.value.namespace).key == key.Namespace {
				return e
			}
		}
		if free(word) != 0 {
			return nil
		}
	}
}

// findString returns the entry of a key that is kept as a string.
func findString[T Object](in *tables[slot[T]], hash uint32, key string) *entry[slot[T]] {
	t := in.table(hash)
	if t == nil {
		return nil
	}
	for g := t.home(hash); ; g = t.next(g) {
		word := t.words[g]
		for set := matching(word, hash); set != 0; set &= set - 1 {
			if e := &t.groups[g][first(set)]; e.value.string() == key {
				return e
			}
		}
		if free(word) != 0 {
			return nil
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
		t.each(func(e *entry[slot[T]]) bool { return yield(t.keyAt(&namespaces, &e.value)) })
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
	t.each(func(e *entry[slot[T]]) bool {
		list = append(list, e.value.string())
		return true
	})
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
