package index

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestKeyHash: hashes depend on each byte of a key, on where the namespace ends, and on
// what only the store knows.
func TestKeyHash(t *testing.T) {
	h, other := newKeyHasher(), newKeyHasher()
	text := strings.Repeat("x", 70)
	seen := map[uint64]string{}
	note := func(name string, hash uint64) {
		require.Empty(t, seen[hash], name)
		seen[hash] = name
	}
	for n := range len(text) {
		key := Key{Namespace: "ns", Name: text[:n]}
		note(fmt.Sprint("name of ", n), sumOf(h, key))
		note(fmt.Sprint("text of ", n), h.sum(h.seed, text[:n]))
		note(fmt.Sprint("namespace of ", n), sumOf(h, Key{Namespace: text[:n], Name: "n"}))
		if n > 0 {
			note(fmt.Sprint("split at ", n), sumOf(h, Key{Namespace: text[:n], Name: text[n:]}))
		}
		note(fmt.Sprint("by another store ", n), sumOf(other, key))
		for i := range n {
			changed := []byte(text[:n])
			changed[i] = 'y'
			note(fmt.Sprint(n, " with another byte ", i), h.sum(h.seed, string(changed)))
		}
		require.Equal(t, h.text(key.String()), h.joined(key))
	}
}

func sumOf(h keyHasher, key Key) uint64 { return h.sums(key) }

// TestKeyHashSpreads: of names that are numbered, all bits of the hashes are 1 in half of
// them, and of any two, half of the bits differ.
func TestKeyHashSpreads(t *testing.T) {
	const n = 20_000
	h := newKeyHasher()
	var ones [32]int
	differ, before := 0, uint32(0)
	for i := range n {
		hash := h.key(Key{Namespace: "team-07", Name: fmt.Sprintf("shipping-sync-05-86chp8bcqn-%05d", i)})
		for bit := range ones {
			ones[bit] += int(hash >> bit & 1)
		}
		differ += bits.OnesCount32(hash ^ before)
		before = hash
	}
	for bit, count := range ones {
		assert.InDelta(t, n/2, count, n/20, "bit %d", bit)
	}
	assert.InDelta(t, 16*n, differ, 0.4*n)
}
