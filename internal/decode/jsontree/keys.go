package jsontree

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/kubetyped/informer/internal/decode/parts"
)

const (
	// keyCount is how many keys of maps are remembered, and stringCount how many
	// other strings are. Powers of two.
	keyCount, stringCount = 1 << 9, 1 << 8
	// longestKept is how long they are at most.
	longestKept = 64
)

// key returns a key, which has a hash, as a string. Keys are few, and most of them come
// again soon.
func (p *pass) key(key []byte, hash uint32) string {
	if len(key) > longestKept {
		return p.newKey(key)
	}
	known := &p.keys[hash%keyCount]
	if *known != string(key) {
		*known = p.newKey(key)
	}
	return *known
}

// newKey returns a key that is not remembered.
func (p *pass) newKey(key []byte) string {
	table := p.decoder.table
	if table == nil || len(key) < 2 {
		return string(key)
	}
	part, ticket := table.Find(keyPart, key)
	if part.Data != nil {
		if s := unsafe.String((*byte)(part.Data), part.Len); s == string(key) {
			return s
		}
	}
	s := string(key)
	table.Keep(ticket, parts.Part{Data: unsafe.Pointer(unsafe.StringData(s)), Len: len(s)})
	return s
}

// hashOf returns a hash of a key that is good enough to distinguish the keys of one object.
func hashOf(key []byte) uint32 {
	var first, last uint64
	switch n := len(key); {
	case n >= 8:
		first, last = binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[n-8:])
	case n >= 4:
		first, last = uint64(binary.LittleEndian.Uint32(key)), uint64(binary.LittleEndian.Uint32(key[n-4:]))
	case n > 0:
		first = uint64(key[0])<<16 | uint64(key[n/2])<<8 | uint64(key[n-1])
	}
	mixed := (first ^ bits.RotateLeft64(last, 23) ^ uint64(len(key))<<56) * 0x9e3779b97f4a7c15
	return uint32(mixed >> 32)
}
