package target

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReached(t *testing.T) {
	ratio := Target{Peer: "client-go", AtLeast: 5}
	assert.True(t, ratio.Reached(5))
	assert.False(t, ratio.Reached(4.9))
	assert.True(t, ratio.Nearly(4))
	assert.False(t, ratio.Nearly(3.9))
	limit := Target{AtMost: 1}
	assert.True(t, limit.Reached(1))
	assert.False(t, limit.Reached(1.1))
}

func TestTargets(t *testing.T) {
	all := All()
	guarded := 0
	for _, target := range all {
		assert.NotEmpty(t, target.Side)
		assert.NotEmpty(t, target.Unit)
		if target.Peer == "" {
			assert.Zero(t, target.AtLeast, target.Name)
		} else {
			assert.Positive(t, target.AtLeast, target.Name)
		}
		found := Find(all, target.Name, target.Side, target.Unit, target.Peer)
		require.NotNil(t, found)
		assert.Equal(t, target, *found, "there is one for each quantity")
		if target.Guarded {
			guarded++
		}
	}
	assert.Positive(t, guarded)
	assert.Nil(t, Find(all, "Get", "typed", "sec/op", "other"))
}
