package index

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"unsafe"
)

// keyHasher computes hashes of keys that cannot be foreseen: a user who chooses names cannot
// make many of them get the same hash. It is the method of wyhash (Wang Yi), which Go's maps
// use where a processor does not help: 16 bytes at a time are multiplied, with numbers that
// are secret. A key takes half the time of two calls of package maphash.
type keyHasher struct{ seed, secret uint64 }

func newKeyHasher() keyHasher { return keyHasher{rand.Uint64(), rand.Uint64()} }

// key returns the hash of a key. The processor computes the sums of its two parts at the
// same time.
func (h *keyHasher) key(key Key) uint32 { return uint32(h.sums(key) >> 32) }

func (h *keyHasher) sums(key Key) uint64 {
	return mix(h.sum(h.secret, key.Namespace), h.sum(h.seed, key.Name))
}

// text returns the hash of a key as a string. Without one more step than sum has, names
// that differ in their last bytes would have hashes that differ by multiples of one number.
func (h *keyHasher) text(joined string) uint32 {
	high, low := bits.Mul64(h.sum(h.seed, joined), golden)
	return uint32((high ^ low) >> 32)
}

// golden is 2^64 divided by the golden ratio, as in Fibonacci hashing.
const golden = 0x9e3779b97f4a7c15

// joined returns what text returns of a key.
func (h *keyHasher) joined(key Key) uint32 {
	var buf keyBuffer
	return h.text(buf.join(key))
}

// sum returns a number that depends on a state and a string.
func (h *keyHasher) sum(state uint64, s string) uint64 {
	all := unsafe.Slice(unsafe.StringData(s), len(s))
	state += uint64(len(all)) * golden
	var head, tail uint64
	switch n := len(all); {
	case n > 16:
		for rest := all; len(rest) > 16; rest = rest[16:] {
			state = mix(binary.LittleEndian.Uint64(rest)^h.secret, binary.LittleEndian.Uint64(rest[8:])^state)
		}
		head, tail = binary.LittleEndian.Uint64(all[n-16:]), binary.LittleEndian.Uint64(all[n-8:])
	case n >= 8:
		head, tail = binary.LittleEndian.Uint64(all), binary.LittleEndian.Uint64(all[n-8:])
	case n >= 4:
		head, tail = uint64(binary.LittleEndian.Uint32(all)), uint64(binary.LittleEndian.Uint32(all[n-4:]))
	case n > 0:
		head = uint64(all[0])<<16 | uint64(all[n/2])<<8 | uint64(all[n-1])
	}
	return mix(head^h.secret, tail^state)
}

// mix returns a number that depends on all bits of two.
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
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
