package queue

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"
)

func makeQueue[K comparable](t require.TestingT, opts ...Option) *WorkQueue[K] {
	q, err := NewWorkQueue[K](opts...)
	require.NoError(t, err)
	return q
}

// whileHeld calls something while another holds the lock, which is then given up as if
// nothing had happened.
func whileHeld[K comparable](q *WorkQueue[K], call func()) {
	q.mu.Mutex.Lock()
	defer q.mu.Mutex.Unlock()
	call()
}

// getAll gets all keys and is done with them.
func getAll[K comparable](q *WorkQueue[K]) (keys []K) {
	for q.Len() > 0 {
		key, _ := q.Get()
		keys = append(keys, key)
		q.Done(key)
	}
	return keys
}

// TestAddsDoNotWaitForTheLock and every method sees those that have returned.
func TestAddsDoNotWaitForTheLock(t *testing.T) {
	for name, sees := range map[string]func(q *WorkQueue[string]) bool{
		"Len":      func(q *WorkQueue[string]) bool { return q.Len() == 1 },
		"Stats":    func(q *WorkQueue[string]) bool { return q.Stats().Waiting == 1 },
		"Report":   func(q *WorkQueue[string]) bool { return q.Report(1).Oldest == "a" },
		"KeyState": func(q *WorkQueue[string]) bool { return !q.KeyState("a").Waiting.IsZero() },
		"TryAdd":   func(q *WorkQueue[string]) bool { return q.TryAdd("b", AddOptions{}) != nil },
		"ShutDown": func(q *WorkQueue[string]) bool { q.ShutDown(); return q.schedule.len == 1 },
		"Get": func(q *WorkQueue[string]) bool {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			key, err := q.GetContext(ctx)
			return err == nil && key == "a"
		},
		"Done": func(q *WorkQueue[string]) bool {
			reported := q.done("b")
			return !reported && q.schedule.len == 1
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := makeQueue[string](t, WithCapacity(1))
			defer q.ShutDown()
			whileHeld(q, func() { q.Add("a") })
			assert.True(t, sees(q))
		})
	}
}

// TestLeftAddsComeFirst in their order, and before those that find the lock free.
func TestLeftAddsComeFirst(t *testing.T) {
	q := makeQueue[string](t)
	defer q.ShutDown()
	whileHeld(q, func() {
		q.Add("a")
		q.AddWithOptions("b", AddOptions{})
		q.AddAfter("c", -1)
	})
	q.Add("d")
	assert.Equal(t, []string{"a", "b", "c", "d"}, getAll(q))
	assert.EqualValues(t, 1, q.Stats().Retries)

	q.mu.Lock()
	q.Add("e")
	q.Add("f")
	q.unlock()
	assert.Equal(t, 2, q.schedule.len, "who held the lock has made them")
	assert.Equal(t, []string{"e", "f"}, getAll(q))
}

// hookedMetrics call something when a key is added, once.
type hookedMetrics struct {
	discard
	hook *func()
}

func (m hookedMetrics) NewAddsMetric(string) workqueue.CounterMetric { return m }

func (m hookedMetrics) Inc() {
	if call := *m.hook; call != nil {
		*m.hook = nil
		call()
	}
}

// hookedClock calls something when it is asked for the time, once.
type hookedClock struct {
	clock.RealClock
	hook *func()
}

func (c hookedClock) Since(t time.Time) time.Duration {
	if call := *c.hook; call != nil {
		*c.hook = nil
		call()
	}
	return c.RealClock.Since(t)
}

// TestLeftAddsWakeAWorker while another makes what was left before, and when the
// lock is given up just before an add is left.
func TestLeftAddsWakeAWorker(t *testing.T) {
	worker := func(q *WorkQueue[string]) (got func() []string) {
		var keys []string
		go func() {
			for {
				key, shutDown := q.Get()
				if shutDown {
					return
				}
				keys = append(keys, key)
				q.Done(key)
			}
		}()
		synctest.Wait()
		return func() []string { synctest.Wait(); return keys }
	}
	synctest.Test(t, func(t *testing.T) {
		hook := (func())(nil)
		q := makeQueue[string](t, WithName("q"), WithMetrics(hookedMetrics{hook: &hook}))
		q.Add("a")
		_, _ = q.Get()
		got := worker(q)
		q.mu.Lock()
		q.Add("a") // will wait again, so no worker is woken for it
		hook = func() { q.Add("b") }
		q.unlock()
		assert.Equal(t, []string{"b"}, got())
		q.Done("a")
		assert.Equal(t, []string{"b", "a"}, got())
		q.ShutDown()
	})
	synctest.Test(t, func(t *testing.T) {
		hook := (func())(nil)
		q := makeQueue[string](t, WithClock(hookedClock{hook: &hook}))
		got := worker(q)
		hook = func() { q.mu.Mutex.Unlock() }
		q.mu.Mutex.Lock()
		q.Add("a") // finds the lock taken, which is given up before it is left
		assert.Equal(t, []string{"a"}, got())
		q.ShutDown()
	})
}

// TestSleepersMakeLeftAdds and is woken for it.
func TestSleepersMakeLeftAdds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := makeQueue[string](t)
		defer q.ShutDown()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		q.mu.Lock()
		q.Add("a")
		q.sleep(ctx)
		q.unlock()
		require.NoError(t, ctx.Err())
		assert.Equal(t, []string{"a"}, getAll(q))
	})
}

// TestManyAddsAreLeft: a goroutine adds many keys while another holds the lock, and does not wait
// for it.
func TestManyAddsAreLeft(t *testing.T) {
	q := makeQueue[int](t)
	defer q.ShutDown()
	whileHeld(q, func() {
		for i := range 10_000 {
			q.Add(i)
		}
	})
	keys := getAll(q)
	require.Len(t, keys, 10_000)
	assert.IsIncreasing(t, keys)
}

// TestLeftAddsAllocateNothing once there have been some.
func TestLeftAddsAllocateNothing(t *testing.T) {
	if RaceEnabled {
		t.Skip("the race detector has pools forget")
	}
	q := makeQueue[int](t)
	defer q.ShutDown()
	assert.Less(t, testing.AllocsPerRun(100, func() {
		q.mu.Lock()
		for i := range 640 { // ten times as many as are made at a time
			q.Add(i)
		}
		q.unlock()
		for q.Len() > 0 {
			key, _ := q.Get()
			q.Done(key)
		}
	}), 5.0, "but what the garbage collector takes from a pool")
}

// TestTryAddWaitsForTheLock as it has to say whether there is room.
func TestTryAddWaitsForTheLock(t *testing.T) {
	q := makeQueue[string](t, WithCapacity(1))
	defer q.ShutDown()
	q.Add("a")
	var trying sync.WaitGroup
	var err error
	whileHeld(q, func() {
		trying.Go(func() { err = q.TryAdd("b", AddOptions{}) })
		for range 1000 {
			runtime.Gosched()
		}
	})
	trying.Wait()
	assert.ErrorIs(t, err, ErrFull)
}

// TestAddsAfterAShutDownAreLetGo even if they were left for the holder of the lock.
func TestAddsAfterAShutDownAreLetGo(t *testing.T) {
	q := makeQueue[string](t)
	q.ShutDown()
	whileHeld(q, func() { q.Add("a") })
	assert.Zero(t, q.Len())
	assert.Zero(t, q.keys.by.Len())
}

// noClock panics.
type noClock struct {
	clock.RealClock
	broken *bool
}

func (c noClock) Since(t time.Time) time.Duration {
	if *c.broken {
		panic("clock")
	}
	return c.RealClock.Since(t)
}

// TestAClockThatPanicsLeavesNoAdd to who holds the lock, for whom it would panic later.
func TestAClockThatPanicsLeavesNoAdd(t *testing.T) {
	broken := false
	q := makeQueue[string](t, WithClock(noClock{broken: &broken}))
	defer q.ShutDown()
	whileHeld(q, func() {
		broken = true
		assert.PanicsWithValue(t, "clock", func() { q.Add("a") })
		broken = false
		q.Add("b")
		broken = true
	})
	assert.Equal(t, 1, q.Len())
	broken = false
	assert.Equal(t, []string{"b"}, getAll(q))
}

// TestLeftAddsKeepTheirTime even if a clock of the user advances meanwhile.
func TestLeftAddsKeepTheirTime(t *testing.T) {
	c := testingclock.NewFakeClock(time.Unix(1_000_000_000, 0))
	q := makeQueue[string](t, WithClock(c))
	defer q.ShutDown()
	c.Step(time.Hour)
	due := c.Now().Add(time.Minute)
	whileHeld(q, func() {
		q.AddAfter("a", time.Minute)
		c.Step(time.Second)
	})
	assert.Equal(t, due, q.KeyState("a").DelayedUntil)
}

// retryMetrics panic when a key is tried again, once.
type retryMetrics struct {
	discard
	panics *bool
}

func (m retryMetrics) NewRetriesMetric(string) workqueue.CounterMetric { return m }

func (m retryMetrics) Inc() {
	if *m.panics {
		*m.panics = false
		panic("metric")
	}
}

// TestLeftAddsAreMadeOnce even if a metric panics at one, and the caller recovers.
func TestLeftAddsAreMadeOnce(t *testing.T) {
	panics := true
	q := makeQueue[string](t, WithName("q"), WithMetrics(retryMetrics{panics: &panics}))
	defer q.ShutDown()
	q.mu.Lock()
	q.AddAfter("a", -1)
	q.Add("b")
	assert.PanicsWithValue(t, "metric", q.unlock)
	assert.EqualValues(t, 1, q.Stats().Retries)
	assert.Equal(t, []string{"a", "b"}, getAll(q))
}
