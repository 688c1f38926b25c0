package jsontree

import (
	"unsafe"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// stringCount is how many strings are remembered that are no keys of maps. A power of two.
const stringCount = 1 << 8

// key returns a key, which has a hash, as a string. Keys are few, and most of them come
// again soon.
func (p *pass) key(key []byte, hash uint32) string {
	if len(key) > parts.LongestRecent {
		return p.newKey(key)
	}
	known := p.keys.At(hash)
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
