package tracing

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

// TestSampling: one event of so many is traced, and programs agree on which.
func TestSampling(t *testing.T) {
	for _, oneIn := range []int{1, 2, 10, 100} {
		tracer, err := New(WithSampling(oneIn), WithRate(0))
		require.NoError(t, err)
		other, err := New(WithSampling(oneIn), WithRate(0))
		require.NoError(t, err)
		const events = 100_000
		sampled := 0
		for i := range events {
			key, version := index.Key{Namespace: "default", Name: fmt.Sprintf("web-%d", i%50)}, fmt.Sprint(1000+i)
			is := tracer.samples(key, version)
			assert.Equal(t, is, other.samples(key, version))
			if is {
				sampled++
			}
		}
		assert.InEpsilon(t, events/oneIn, sampled, 0.1, "one in %d", oneIn)
	}
}

// TestHash: what programs agree on must not change.
func TestHash(t *testing.T) {
	assert.Equal(t, uint64(0x8c49acd240fb2b9e), hash("default", "web-1", "1000"))
	assert.NotEqual(t, hash("a", "bc", ""), hash("ab", "c", ""))
}

// TestRate: no more than so many a second.
func TestRate(t *testing.T) {
	r, now := rate{perSecond: 3}, time.Now()
	taken := func(n int) (taken int) {
		for range n {
			if r.take(now) {
				taken++
			}
		}
		return taken
	}
	assert.Equal(t, 3, taken(10))
	now = now.Add(time.Second)
	assert.Equal(t, 2, taken(2))
	now = now.Add(time.Second / 2)
	assert.Equal(t, 1, taken(10))
}
