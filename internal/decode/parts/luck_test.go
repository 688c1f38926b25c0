package parts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// TestLuck: after tries without hits, only trials look for a value; after enough hits, all do again.
func TestLuck(t *testing.T) {
	var l parts.Luck
	assert.True(t, l.Try(false), "nothing is known")
	for range 64 {
		assert.True(t, l.Try(true))
	}
	assert.False(t, l.Try(false), "no hit in 64 tries")
	for n := range 64 {
		assert.True(t, l.Try(true))
		if n%4 == 0 {
			l.Hit(true)
			l.Hit(false) // does not count
		}
	}
	assert.True(t, l.Try(false), "a quarter of the tries were hits")
}
