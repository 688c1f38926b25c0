package parts_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// TestRecent: a text is at its place until another one of that place comes.
func TestRecent(t *testing.T) {
	var r parts.Recent
	places := map[*string]int{}
	for i := range 100 {
		for length := range 20 {
			text := fmt.Appendf(nil, "%d-%0*d", i, length, i)
			at := r.At(parts.HashOf(text))
			assert.Same(t, at, r.At(parts.HashOf(text)))
			*at = string(text)
			places[at]++
		}
	}
	assert.Greater(t, len(places), len(r)*9/10, "texts have many places")
	for at, n := range places {
		assert.Less(t, n, 30, *at)
	}
}

// TestHashOf: each byte of a short text counts.
func TestHashOf(t *testing.T) {
	seen := map[uint32]string{}
	for length := range 17 {
		for at := range length {
			text := make([]byte, length)
			text[at] = 'x'
			if length < 4 || at < 8 || at >= length-8 {
				hash := parts.HashOf(text)
				assert.NotContains(t, seen, hash, "%q", text)
				seen[hash] = string(text)
			}
		}
	}
	assert.Zero(t, parts.HashOf(nil))
}
