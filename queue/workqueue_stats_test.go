package queue_test

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/queue"
)

func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue[string](t, queue.WithFairness(tenantOf), queue.WithRateLimiter(always(second)))
		assert.Equal(t, queue.Stats{}, q.Stats())
		q.Add("a1")
		pass(second)
		q.AddWithOptions("b1", priority(1))
		q.Add("c1")
		pass(second)
		assert.Equal(t, queue.Stats{Waiting: 3, OldestAge: 2 * second}, q.Stats())
		key, _ := q.Get()
		require.Equal(t, "b1", key)
		q.Add(key)
		q.AddAfter("a1", time.Hour)
		q.AddAfter("a1", 0)
		q.AddRateLimited("d1")
		want := queue.Stats{Waiting: 2, InFlight: 1, Dirty: 1, Delayed: 2, OldestAge: 2 * second, Retries: 3}
		assert.Equal(t, want, q.Stats())
		pass(second)
		want.Waiting, want.Delayed, want.OldestAge = 3, 1, 3*second
		assert.Equal(t, want, q.Stats())

		key, _ = q.Get()
		require.Equal(t, "a1", key)
		assert.Equal(t, 2*second, q.Stats().OldestAge)
		q.AddWithOptions("c1", priority(1))
		pass(second / 2)
		assert.Equal(t, second/2, q.Stats().OldestAge, "it counts from when a place was taken")
		q.Done("b1")
		key, _ = q.Get()
		require.Equal(t, "c1", key)
		pass(second / 2)
		key, _ = q.Get()
		require.Equal(t, "d1", key)
		assert.Equal(t, queue.Stats{Waiting: 1, InFlight: 3, Delayed: 1, OldestAge: second / 2, Retries: 3}, q.Stats())

		q.ShutDown()
		assert.Equal(t, queue.Stats{Waiting: 1, InFlight: 3, OldestAge: second / 2, Retries: 3}, q.Stats())
	})
}

// TestMetricsBeyondClientGo uses a provider that makes all of them.
func TestMetricsBeyondClientGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder()
		q := newQueue[string](t, queue.WithName("pods"), queue.WithMetrics(fullRecorder{r}))
		assert.Equal(t, map[string]bool{"pods": true}, r.names)
		q.Add("a")
		q.Add("b")
		q.AddAfter("a", time.Hour)
		q.AddAfter("a", time.Minute)
		q.AddAfter("c", 10*second)
		q.AddAfter("d", time.Hour)
		assert.EqualValues(t, 3, r.value("delayed"))
		assert.Zero(t, r.value("in flight"))
		_, _ = q.Get()
		assert.EqualValues(t, 1, r.value("in flight"))
		pass(5 * second)
		assert.InDelta(t, 5, r.value("oldest age"), 0.5)
		pass(5 * second)
		assert.EqualValues(t, 2, r.value("delayed"))
		_, _ = q.Get()
		_, _ = q.Get()
		assert.EqualValues(t, 3, r.value("in flight"))
		q.Done("a")
		q.Done("b")
		q.Done("c")
		pass(second)
		assert.Zero(t, r.value("in flight"))
		assert.Zero(t, r.value("oldest age"))
		assert.Zero(t, r.value("unfinished"))
		q.ShutDown()
		assert.Zero(t, r.value("delayed"), "they were dropped")
	})
}

// inBubbles returns how many goroutines there are in bubbles. Others may still be
// about to end, as those of the tests before.
func inBubbles() int {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Count(string(stacks), ", synctest bubble ")
}

// TestGoroutines counts them: one while something is delayed, or gauges have to
// be set.
func TestGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := inBubbles()
		goroutines := func() int {
			synctest.Wait()
			return inBubbles() - base
		}
		q := newQueue[string](t)
		assert.Zero(t, goroutines())
		q.Add("a")
		_, _ = q.Get()
		assert.Zero(t, goroutines())
		q.AddAfter("a", 2*second)
		q.AddAfter("b", second)
		q.AddAfter("c", time.Hour)
		assert.Equal(t, 1, goroutines())
		pass(time.Hour - moment)
		assert.Equal(t, 1, goroutines())
		pass(moment)
		assert.Zero(t, goroutines(), "nothing is delayed any more")
		q.AddAfter("a", second)
		assert.Equal(t, 1, goroutines())
		q.ShutDown()
		assert.Zero(t, goroutines())

		q = newQueue[string](t, queue.WithName("q"), queue.WithMetrics(newRecorder()))
		assert.Zero(t, goroutines())
		q.Add("a")
		assert.Equal(t, 1, goroutines())
		_, _ = q.Get()
		q.Done("a")
		pass(2 * second)
		assert.Zero(t, goroutines(), "nothing is left to be told")
		q.AddAfter("a", second)
		assert.Equal(t, 1, goroutines())
		q.ShutDownWithDrain()
		assert.Zero(t, goroutines())
	})
}

// TestNoAllocationInUse goes through what a queue is used for all the time.
func TestNoAllocationInUse(t *testing.T) {
	if queue.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	keys := make([]string, 500)
	for i := range keys {
		keys[i] = string(rune('a'+i%7)) + string(rune('a'+i))
	}
	for name, opts := range map[string][]queue.Option{
		"plain":    nil,
		"fair":     {queue.WithFairness(tenantOf)},
		"measured": {queue.WithName("q"), queue.WithMetrics(silent{})},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue[string](t, append(opts, queue.WithRateLimiter(always(0)))...)
			defer q.ShutDown()
			ctx, batch := t.Context(), make([]string, 3)
			round := func() {
				for i, key := range keys {
					q.Add(key)
					q.AddWithOptions(key, priority(i%3))
					q.AddRateLimited(key)
				}
				again := true
				for q.Len() > 0 {
					key, _ := q.GetContext(ctx)
					if again {
						again = false
						q.Add(key)
						q.AddAfter(key, time.Hour)
					}
					q.Done(key)
					if q.Len() > 3 {
						n, _ := q.GetBatch(ctx, batch)
						for _, key := range batch[:n] {
							q.Done(key)
						}
					}
				}
				q.Forget(keys[0])
				_ = q.NumRequeues(keys[0])
				_ = q.Stats()
			}
			round()
			assert.Zero(t, testing.AllocsPerRun(20, round))
		})
	}
}
