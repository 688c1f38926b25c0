package queue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/kubetyped/informer/queue"
)

// hastyClock is set forward each time that a timer is about to be made or set.
type hastyClock struct {
	*testingclock.FakeClock
	by func() time.Duration
}

func (c hastyClock) NewTimer(d time.Duration) clock.Timer {
	c.Step(c.by())
	return hastyTimer{c.FakeClock.NewTimer(d), c}
}

type hastyTimer struct {
	clock.Timer
	clock hastyClock
}

func (t hastyTimer) Reset(d time.Duration) bool {
	t.clock.Step(t.clock.by())
	return t.Timer.Reset(d)
}

// TestSettingTheClockDelaysNothing sets it between the moment when the queue
// looks how long it has to wait, and that when it begins to.
func TestSettingTheClockDelaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steps := []time.Duration{second, 2 * second, second / 2}
		c := hastyClock{testingclock.NewFakeClock(time.Unix(1_000_000_000, 0)), func() time.Duration {
			if len(steps) == 0 {
				return 0
			}
			step := steps[0]
			steps = steps[1:]
			return step
		}}
		q := newQueue[string](t, queue.WithClock(c))
		defer q.ShutDown()
		q.AddAfter("a", 5*second)
		synctest.Wait()
		require.Empty(t, steps)
		require.Zero(t, q.Len())
		c.Step(second + second/2)
		synctest.Wait()
		assert.Equal(t, 1, q.Len(), "5 s have passed")

		steps = []time.Duration{time.Hour}
		q.AddAfter("b", time.Hour)
		synctest.Wait()
		assert.Equal(t, 2, q.Len(), "it was due before the timer was set")
	})
}
