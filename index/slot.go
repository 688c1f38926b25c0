package index

import (
	"iter"
	"strings"
	"unsafe"
)

// keyText is the key that an object was stored under, next to the object in a hashTable by the
// hash of that key; the place of their entry is the object's position plus one. So a look-up
// compares the key without touching the object, and nothing depends on the object staying
// unmodified.
//
// With a pointer as the object an entry has 32 bytes: that is why the text, a string, is
// kept as its two parts, with a length of 32 bits.
type keyText struct {
	data   unsafe.Pointer // of the key as a string
	size   uint32         // of the text, in bytes
	prefix uint32         // size of the namespace and the slash in it, 0 if there is no namespace
}

// newKeyText returns a key with its text. The text should be a copy, see textOf: copies lie
// close together in memory, whereas the object's own name may be anywhere, and a part of all
// that the object was decoded from.
func newKeyText(key Key, text string) keyText {
	return keyText{data: unsafe.Pointer(unsafe.StringData(text)), size: uint32(len(text)), prefix: uint32(len(text) - len(key.Name))}
}

// textOf returns a copy of a key as a string.
func textOf(key Key) string {
	if key.Namespace == "" {
		return strings.Clone(key.Name)
	}
	return key.String()
}

// string returns the key as a string.
func (s *keyText) string() string { return unsafe.String((*byte)(s.data), s.size) }

// is reports whether it is a key.
func (s *keyText) is(key Key) bool {
	text, n := s.string(), len(key.Namespace)
	if n == 0 {
		return s.prefix == 0 && text == key.Name
	}
	return int(s.prefix) == n+1 && text[n+1:] == key.Name && text[:n] == key.Namespace
}

// key returns the key.
func (s *keyText) key() Key {
	text := s.string()
	if s.prefix == 0 {
		return Key{Name: text}
	}
	return Key{Namespace: text[:s.prefix-1], Name: text[s.prefix:]}
}

// slots is the read side of the objects by their keys.
type slots[T Object] struct {
	tables[T, keyText]
	hasher  keyHasher
	strings bool // keys are compared as strings, see WithKeyStrings
}

// find returns the entry of key, nil if there is none.
func (t *slots[T]) find(key Key) *entry[T, keyText] {
	if t.strings {
		var buf keyBuffer
		joined := buf.join(key)
		return findString(&t.tables, t.hasher.text(joined), joined)
	}
	return findSlot(&t.tables, t.hasher.key(key), key)
}

// findSlot returns the entry of key, which has the hash, nil if there is none.
func findSlot[T Object](in *tables[T, keyText], hash uint32, key Key) *entry[T, keyText] {
	t := in.table(hash)
	if t == nil {
		return nil
	}
	for i := t.home(hash); ; i = t.next(i) {
		e := &t.entries[i]
		if e.hash == hash && e.place != 0 && e.text.is(key) {
			return e
		}
		if e.place == 0 {
			return nil
		}
	}
}

// findString returns the entry of a key that is given as a string, as findSlot does.
func findString[T Object](in *tables[T, keyText], hash uint32, key string) *entry[T, keyText] {
	t := in.table(hash)
	if t == nil {
		return nil
	}
	for i := t.home(hash); ; i = t.next(i) {
		e := &t.entries[i]
		if e.hash == hash && e.place != 0 && e.text.string() == key {
			return e
		}
		if e.place == 0 {
			return nil
		}
	}
}

// keys ranges over the keys.
func (t slots[T]) keys() iter.Seq[Key] {
	return func(yield func(Key) bool) {
		t.each(func(e *entry[T, keyText]) bool { return yield(e.text.key()) })
	}
}

// listStrings returns the n keys as strings.
func (t *slots[T]) listStrings(n uint32) []string {
	if n == 0 {
		return nil
	}
	list := make([]string, 0, n)
	for e := range t.each {
		list = append(list, e.text.string())
	}
	return list
}
