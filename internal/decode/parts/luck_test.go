package parts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// TestLuck: after tries without hits, only trials look for a value; after enough hits, all do again.
func TestLuck(t *testing.T) {
	const rare = 4
	var l parts.Luck
	assert.True(t, l.Try(rare, false), "nothing is known")
	for range 64 {
		assert.True(t, l.Try(rare, true))
	}
	assert.False(t, l.Try(rare, false), "no hit in 64 tries")
	for n := range 64 {
		assert.True(t, l.Try(rare, true))
		if n%rare == 0 {
			l.Hit(true)
			l.Hit(false) // does not count
		}
	}
	assert.True(t, l.Try(rare, false), "a quarter of the tries were hits")
}
