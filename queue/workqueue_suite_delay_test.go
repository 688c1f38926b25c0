package queue_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"
)

const (
	second = time.Second
	moment = time.Nanosecond
)

func TestSuiteAddAfter(t *testing.T) {
	onEach(t, func(t *testing.T, q sharedQueue) {
		q.AddAfter("later", 3*second)
		q.AddAfter("sooner", 2*second)
		q.AddAfter("much later", time.Hour)
		pass(2*second - moment)
		assert.Zero(t, q.Len())
		pass(moment)
		assert.Equal(t, []string{"sooner"}, work(t, q))
		pass(second - moment)
		assert.Zero(t, q.Len())
		pass(moment)
		assert.Equal(t, []string{"later"}, work(t, q))
		pass(time.Hour)
		assert.Equal(t, []string{"much later"}, work(t, q))
		pass(10 * time.Hour)
		assert.Zero(t, q.Len())
	})
}

func TestSuiteAddAfterWakesAWorker(t *testing.T) {
	onEach(t, func(t *testing.T, q sharedQueue) {
		got := make(chan string, 1)
		go func() {
			key, _ := q.Get()
			got <- key
		}()
		q.AddAfter("a", second)
		pass(second - moment)
		require.Empty(t, got)
		pass(moment)
		require.Len(t, got, 1)
		assert.Equal(t, "a", <-got)
	})
}

func TestSuiteNoDelay(t *testing.T) {
	onEach(t, func(t *testing.T, q sharedQueue) {
		q.AddAfter("a", 0)
		q.AddAfter("b", -second)
		q.AddAfter("c", math.MinInt64)
		assert.Equal(t, []string{"a", "b", "c"}, work(t, q))
	})
}

func TestSuiteADelayWithoutEnd(t *testing.T) {
	onEach(t, func(t *testing.T, q sharedQueue) {
		pass(time.Hour)
		q.AddAfter("never", math.MaxInt64)
		q.AddAfter("tomorrow", 24*time.Hour)
		pass(24 * time.Hour)
		assert.Equal(t, []string{"tomorrow"}, work(t, q))
		pass(48 * time.Hour)
		assert.Zero(t, q.Len())
	})
}

func TestSuiteDelaysOfAKeyAreOne(t *testing.T) {
	for name, delays := range map[string][]time.Duration{
		"earliest first": {second, 2 * second, 3 * second, second},
		"earliest last":  {3 * second, 2 * second, second},
		"in the middle":  {3 * second, second, 2 * second},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, q sharedQueue) {
				for round := range 3 {
					for _, d := range delays {
						q.AddAfter("a", d)
						synctest.Wait()
					}
					pass(second - moment)
					require.Zero(t, q.Len(), "round %d", round)
					pass(moment)
					require.Equal(t, []string{"a"}, work(t, q), "it counts when it is earliest")
					pass(10 * second)
					require.Zero(t, q.Len(), "and once")
				}
			})
		})
	}
}

// TestSuiteAdvancedDelayIsGone has another delay begin after one that
// was replaced by an earlier one.
func TestSuiteAdvancedDelayIsGone(t *testing.T) {
	onEach(t, func(t *testing.T, q sharedQueue) {
		q.AddAfter("other", time.Hour)
		q.AddAfter("a", 3*second)
		q.AddAfter("a", second)
		pass(second)
		require.Equal(t, []string{"a"}, work(t, q))
		q.AddAfter("a", 10*second)
		pass(10*second - moment)
		assert.Zero(t, q.Len())
		pass(moment)
		assert.Equal(t, []string{"a"}, work(t, q))
	})
}

// TestSuiteADelayIsIndependentOfAdds adds a key, and processes another, while it is delayed.
func TestSuiteADelayIsIndependentOfAdds(t *testing.T) {
	onEach(t, func(t *testing.T, q sharedQueue) {
		q.AddAfter("a", second)
		add(q, "a")
		assert.Equal(t, []string{"a"}, work(t, q))
		pass(second)
		assert.Equal(t, []string{"a"}, work(t, q), "the delay has passed")

		q.AddAfter("b", second)
		add(q, "b", "c")
		pass(second)
		assert.Equal(t, []string{"b", "c"}, work(t, q), "it waits still, so it is there once")

		q.AddAfter("d", second)
		add(q, "d", "e")
		require.Equal(t, "d", get(t, q))
		pass(second)
		assert.Equal(t, 1, q.Len(), "it is being processed")
		q.Done("d")
		assert.Equal(t, []string{"e", "d"}, work(t, q))
	})
}

func TestSuiteDelaysWhileTheQueueIsBusy(t *testing.T) {
	onEach(t, func(t *testing.T, q sharedQueue) {
		for i := range 1000 {
			q.AddAfter(string(rune('a'+i%26))+string(rune('a'+i/26)), time.Duration(1+(i*7919)%1000)*time.Millisecond)
		}
		for done := range 1000 {
			pass(time.Millisecond)
			require.Len(t, work(t, q), 1, "after %d ms", done+1)
		}
	})
}

func TestSuiteShutDownDropsDelayedKeys(t *testing.T) {
	for name, stop := range map[string]func(sharedQueue){
		"at once": sharedQueue.ShutDown, "with drain": sharedQueue.ShutDownWithDrain,
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, q sharedQueue) {
				q.AddAfter("a", second)
				q.AddAfter("b", time.Hour)
				before := time.Now()
				stop(q)
				require.Equal(t, before, time.Now(), "it waits for nothing")
				q.AddAfter("c", 0)
				q.AddAfter("d", second)
				q.AddRateLimited("e")
				pass(2 * time.Hour)
				assert.Zero(t, q.Len())
				_, shutDown := q.Get()
				assert.True(t, shutDown)
			})
		})
	}
}

func TestSuiteClock(t *testing.T) {
	var fake *testingclock.FakeClock
	onEachWith(t, func() setup {
		fake = testingclock.NewFakeClock(time.Unix(1_000_000_000, 0))
		return setup{clock: fake}
	}, func(t *testing.T, q sharedQueue, _ setup) {
		step := func(d time.Duration) {
			synctest.Wait()
			fake.Step(d)
			synctest.Wait()
		}
		q.AddAfter("a", 2*second)
		q.AddAfter("b", 3*second)
		step(second)
		q.AddAfter("c", second)
		require.Zero(t, q.Len())
		step(second - moment)
		require.Zero(t, q.Len())
		step(moment)
		assert.ElementsMatch(t, []string{"a", "c"}, work(t, q))
		q.AddAfter("b", 5*second)
		step(second)
		assert.Equal(t, []string{"b"}, work(t, q))
		step(time.Hour)
		assert.Zero(t, q.Len())
		pass(time.Hour)
		assert.Zero(t, q.Len(), "only the fake clock counts")
	})
}

func TestSuiteRateLimiter(t *testing.T) {
	onEachWith(t, func() setup {
		return setup{limiter: workqueue.NewTypedItemExponentialFailureRateLimiter[string](second, 5*second)}
	}, func(t *testing.T, q sharedQueue, _ setup) {
		require.Zero(t, q.NumRequeues("a"))
		for i, d := range []time.Duration{second, 2 * second, 4 * second, 5 * second, 5 * second} {
			q.AddRateLimited("a")
			require.Equal(t, i+1, q.NumRequeues("a"))
			pass(d - moment)
			require.Zero(t, q.Len())
			pass(moment)
			require.Equal(t, []string{"a"}, work(t, q))
		}
		assert.Zero(t, q.NumRequeues("b"))
		q.Forget("b")
		q.Forget("a")
		assert.Zero(t, q.NumRequeues("a"))
		q.AddRateLimited("a")
		pass(second)
		assert.Equal(t, []string{"a"}, work(t, q))
	})
}

func TestSuiteDefaultRateLimiter(t *testing.T) {
	onEach(t, func(t *testing.T, q sharedQueue) {
		for _, d := range []time.Duration{5, 10, 20, 40} {
			q.AddRateLimited("a")
			pass(d*time.Millisecond - moment)
			require.Zero(t, q.Len())
			pass(moment)
			require.Equal(t, []string{"a"}, work(t, q))
		}
	})
}

// TestSuiteOddRateLimits tests limiters with meaningless limits. A rate.Limiter whose limit is not
// a number gives no delay, or the one that that becomes as an integer; one whose limit is zero or
// negative, or overflows, gives the longest that there is.
func TestSuiteOddRateLimits(t *testing.T) {
	type limiter = workqueue.TypedRateLimiter[string]
	exponential := workqueue.NewTypedItemExponentialFailureRateLimiter[string]
	for name, test := range map[string]struct {
		limiter func() limiter
		now     bool // the key is not put off at all, otherwise for ever
	}{
		"no delay":             {func() limiter { return always(0) }, true},
		"the longest":          {func() limiter { return always(math.MaxInt64) }, false},
		"NaN as an integer":    {func() limiter { return always(math.MinInt64) }, true},
		"first delay zero":     {func() limiter { return exponential(0, second) }, true},
		"first delay negative": {func() limiter { return exponential(-second, second) }, true},
		"last delay negative":  {func() limiter { return exponential(second, -second) }, true},
		"no limiters at all":   {func() limiter { return workqueue.NewTypedMaxOfRateLimiter[string]() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			onEachWith(t, func() setup { return setup{limiter: test.limiter()} }, func(t *testing.T, q sharedQueue, _ setup) {
				for range 3 {
					q.AddRateLimited("a")
				}
				if test.now {
					require.Equal(t, []string{"a"}, work(t, q))
				}
				pass(24 * time.Hour)
				assert.Zero(t, q.Len())
			})
		})
	}
}

// always is a rate limiter that gives the same delay all the time.
type always time.Duration

func (a always) When(string) time.Duration { return time.Duration(a) }
func (always) Forget(string)               {}
func (always) NumRequeues(string) int      { return 0 }
