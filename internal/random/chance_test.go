package random_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/random"
)

// TestSource: numbers follow from the source of the context, and are Go's own without one.
func TestSource(t *testing.T) {
	draw := func() (drawn []float64) {
		ctx := random.With(t.Context(), random.NewSource(rand.New(rand.NewPCG(1, 2))))
		for range 10 {
			drawn = append(drawn, random.From(ctx).Float64(), float64(random.From(ctx).Int64N(1000)))
		}
		return drawn
	}
	first := draw()
	assert.Equal(t, first, draw())
	none := random.From(t.Context())
	assert.Nil(t, none)
	for i := range first {
		number := none.Float64()
		assert.True(t, 0 <= number && number < 1)
		assert.NotEqual(t, first[i], number)
		assert.Less(t, none.Int64N(5), int64(5))
	}
}
