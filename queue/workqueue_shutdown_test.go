package queue_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/queue"
)

// TestShutDownWithAMetricThatPanics: the caller can recover, the lock is free, and the queue is
// shut down.
func TestShutDownWithAMetricThatPanics(t *testing.T) {
	panics(t, false)
	synctest.Test(t, func(t *testing.T) {
		var armed atomic.Bool
		armed.Store(true)
		q := newQueue[string](t, queue.WithName("q"), queue.WithMetrics(explosive{armed: &armed, once: true}))
		assert.PanicsWithValue(t, "metric", q.ShutDown)
		assert.True(t, q.ShuttingDown())
		q.ShutDownWithDrain()
	})
}

// TestShutDownWithAClockThatPanics changes nothing: the queue continues, and another call shuts it
// down.
func TestShutDownWithAClockThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var armed atomic.Bool
		q := newQueue[string](t, queue.WithClock(faultyClock{armed: &armed}), queue.WithName("q"), queue.WithMetrics(silent{}))
		q.AddAfter("a", second)
		synctest.Wait()
		armed.Store(true)
		assert.PanicsWithValue(t, "clock", q.ShutDown)
		armed.Store(false)
		assert.False(t, q.ShuttingDown())
		pass(second)
		assert.Equal(t, []string{"a"}, work(t, q))
		ctx, cancel := context.WithTimeout(t.Context(), second)
		defer cancel()
		assert.NoError(t, q.Drain(ctx))
	})
}
