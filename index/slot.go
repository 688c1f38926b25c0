package index

import (
	"hash/maphash"
	"iter"
)

// slot is an object with the key that it was stored under. The key is kept
// beside the object, so that a look-up compares it without touching the
// object, and so that nothing depends on the object staying unmodified. The
// namespace is the number of a posting: with it a slot has 32 bytes and never
// lies across two cache lines.
type slot[T Object] struct {
	name      string
	object    T
	namespace uint32 // in Indexer.namespaces
	hash      uint32 // of the key
}

// hashKey combines the hashes of both parts; the multiplier (2^64 divided by
// the golden ratio, as in Fibonacci hashing) keeps equal parts from cancelling
// each other out.
func hashKey(seed maphash.Seed, key Key) uint32 {
	h := maphash.String(seed, key.Namespace)*0x9e3779b97f4a7c15 + maphash.String(seed, key.Name)
	return uint32(h >> 32)
}

// findSlot returns the position of key's slot.
func findSlot[T Object](words *pages[uint64], slots *pages[slot[T]], namespaces *pages[*posting[string]], hash uint32, key Key) (uint32, bool) {
	for p := probeFor(hash); ; {
		pos, ok := p.next(words)
		if !ok {
			return 0, false
		}
		s := &slots.table[pos>>pageBits][pos&pageMask]
		if s.name == key.Name && namespaces.at(s.namespace).key == key.Namespace {
			return pos, true
		}
	}
}

// keysOf ranges over the keys of slots.
func keysOf[T Object](slots pages[slot[T]], namespaces pages[*posting[string]]) iter.Seq[Key] {
	return func(yield func(Key) bool) {
		for _, page := range slots.table {
			for i := range page {
				if !yield(Key{Namespace: namespaces.at(page[i].namespace).key, Name: page[i].name}) {
					return
				}
			}
		}
	}
}
