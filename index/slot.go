package index

import (
	"hash/maphash"
	"iter"
)

// slot is an object with the key that it was stored under. The key is kept
// beside the object, so that a look-up compares it without touching the
// object, and so that nothing depends on the object staying unmodified.
type slot[T Object] struct {
	key    Key
	object T
}

// keyHash is a key with its hash.
type keyHash struct {
	key  Key
	hash uint32
}

// hashKey combines the hashes of both parts; the multiplier (2^64 divided by
// the golden ratio, as in Fibonacci hashing) keeps equal parts from cancelling
// each other out.
func hashKey(seed maphash.Seed, key Key) uint32 {
	h := maphash.String(seed, key.Namespace)*0x9e3779b97f4a7c15 + maphash.String(seed, key.Name)
	return uint32(h >> 32)
}

// findSlot returns the position of key's slot.
func findSlot[T Object](words *pages[uint64], slots *pages[slot[T]], hash uint32, key Key) (uint32, bool) {
	for p := probeFor(hash); ; {
		pos, ok := p.next(words)
		if !ok {
			return 0, false
		}
		if s := &slots.table[pos>>pageBits][pos&pageMask]; s.key.Name == key.Name && s.key.Namespace == key.Namespace {
			return pos, true
		}
	}
}

// keysOf ranges over the keys of slots.
func keysOf[T Object](slots pages[slot[T]]) iter.Seq[Key] {
	return func(yield func(Key) bool) {
		for _, page := range slots.table {
			for i := range page {
				if !yield(page[i].key) {
					return
				}
			}
		}
	}
}
