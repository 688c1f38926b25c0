package timing

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRandom: numbers follow from the seed of the context, and are Go's own without one.
func TestRandom(t *testing.T) {
	draw := func() (drawn []float64) {
		ctx := WithRandom(t.Context(), NewRandom(rand.New(rand.NewPCG(1, 2))))
		for range 10 {
			drawn = append(drawn, RandomFrom(ctx).Float64(), float64(RandomFrom(ctx).Int64N(1000)))
		}
		return drawn
	}
	first := draw()
	assert.Equal(t, first, draw())
	none := RandomFrom(t.Context())
	assert.Nil(t, none)
	for i := range first {
		number := none.Float64()
		assert.True(t, 0 <= number && number < 1)
		assert.NotEqual(t, first[i], number)
		assert.Less(t, none.Int64N(5), int64(5))
	}
}
