package inspect

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGrowth: the rate is that of the last minute, and unknown in the first three seconds.
func TestGrowth(t *testing.T) {
	var g growth
	start := time.Unix(1_700_000_000, 0)
	rate := func(seconds, n int) float64 { return g.rate("queue", n, start.Add(time.Duration(seconds)*time.Second)) }
	assert.Zero(t, rate(0, 10))
	assert.Zero(t, rate(2, 30), "too early")
	assert.InDelta(t, 10, rate(4, 50), 0.01)
	assert.InDelta(t, 1, rate(40, 50), 0.01)
	assert.Zero(t, rate(44, 10), "no more than in the beginning")
	for s := 46; s < 200; s += 2 {
		rate(s, 10)
	}
	assert.Zero(t, rate(200, 10))
	assert.InDelta(t, 1, rate(201, 71), 0.05, "61 in a minute, whatever was before")

	g.forget(start.Add(201 * time.Second))
	assert.Len(t, g.seen, 1, "it was asked for then")
	g.forget(start.Add(202 * time.Second))
	assert.Empty(t, g.seen)
	assert.Zero(t, g.rate("empty", 0, start))
	assert.Empty(t, g.seen, "nothing is known of an empty one")
}

// TestListenersShareReports: two requests within half of an interval get the same report.
func TestListenersShareReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, err := New()
		require.NoError(t, err)
		first := i.streams.frame(t.Context(), i, false)
		time.Sleep(time.Second)
		assert.Same(t, first, i.streams.frame(t.Context(), i, false))
		page := i.streams.frame(t.Context(), i, true)
		assert.Same(t, first.report, page.report)
		assert.Same(t, page, i.streams.frame(t.Context(), i, true))
		time.Sleep(time.Millisecond)
		assert.NotSame(t, first.report, i.streams.frame(t.Context(), i, true).report)
	})
}
