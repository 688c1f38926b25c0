package index

import (
	"iter"
	"unsafe"
)

// slot is an object with the key that it was stored under, in a hashTable by the
// hash of that key; the place of its entry is the object's position plus one. The
// key is kept beside the object, so that a look-up compares it without touching the
// object, and so that nothing depends on the object staying unmodified. Its text is what
// the head of the entry points to: the name; or the key as a string, see WithKeyStrings.
//
// With a pointer as the object an entry and its head have 32 bytes: that is why the text
// has a length of 32 bits.
type slot[T Object] struct {
	object    T
	size      uint32 // of the text, in bytes
	namespace uint32 // number of the posting in Indexer.namespaces
}

// string returns the text of a slot.
func (s *slot[T]) string(text *byte) string { return unsafe.String(text, s.size) }

// slots is the read side of the objects by their keys.
type slots[T Object] struct {
	tables[*byte, slot[T]]
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
func findSlot[T Object](in *tables[*byte, slot[T]], namespaces *pages[posting[string]], hash uint32, key Key) *entry[slot[T]] {
	t := in.table(hash)
	if t == nil {
		return nil
	}
	for g := t.home(hash); ; g = t.next(g) {
		word := t.words[g]
		for set := matching(word, hash); set != 0; set &= set - 1 {
			i := first(set)
			e := &t.groups[g][i]
			if e.value.string(t.heads[g][i]) == key.Name && namespaces.ref(e.value.namespace).key == key.Namespace {
				return e
			}
		}
		if free(word) != 0 {
			return nil
		}
	}
}

// findString returns the entry of a key that is kept as a string.
func findString[T Object](in *tables[*byte, slot[T]], hash uint32, key string) *entry[slot[T]] {
	t := in.table(hash)
	if t == nil {
		return nil
	}
	for g := t.home(hash); ; g = t.next(g) {
		word := t.words[g]
		for set := matching(word, hash); set != 0; set &= set - 1 {
			i := first(set)
			if e := &t.groups[g][i]; e.value.string(t.heads[g][i]) == key {
				return e
			}
		}
		if free(word) != 0 {
			return nil
		}
	}
}

// keyAt returns the key of a slot.
func (t *slots[T]) keyAt(namespaces *pages[posting[string]], text *byte, s *slot[T]) Key {
	key := Key{Namespace: namespaces.ref(s.namespace).key, Name: s.string(text)}
	if t.strings && key.Namespace != "" {
		key.Name = key.Name[len(key.Namespace)+1:]
	}
	return key
}

// keys ranges over the keys.
func (t slots[T]) keys(namespaces pages[posting[string]]) iter.Seq[Key] {
	return func(yield func(Key) bool) {
		t.each(func(text **byte, e *entry[slot[T]]) bool { return yield(t.keyAt(&namespaces, *text, &e.value)) })
	}
}

// keyStrings returns the n keys as strings.
func (t *slots[T]) keyStrings(namespaces *pages[posting[string]], n uint32) []string {
	if n == 0 {
		return nil
	}
	if !t.strings {
		list := keyTexts{texts: make([]string, 0, n)}
		for text, e := range t.all() {
			list.add(t.keyAt(namespaces, *text, &e.value))
		}
		return list.texts
	}
	list := make([]string, 0, n)
	t.each(func(text **byte, e *entry[slot[T]]) bool {
		list = append(list, e.value.string(*text))
		return true
	})
	return list
}

// appendText appends the key of a slot as a string.
func (t *slots[T]) appendText(list *keyTexts, namespaces *pages[posting[string]], text *byte, s *slot[T]) {
	if t.strings {
		list.texts = append(list.texts, s.string(text))
		return
	}
	list.add(t.keyAt(namespaces, text, s))
}
