package queue_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/kubetyped/informer/queue"
)

// panics replaces the handlers of panics during a test, and returns the panics that they receive.
// It disables crashing if disabled is true.
func panics(t *testing.T, disabled bool) *journal[any] {
	var seen journal[any]
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	t.Cleanup(func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers })
	utilruntime.ReallyCrash = !disabled
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, p any) { seen.add(p) }}
	return &seen
}

// hollow is an error whose methods panic if it is a nil pointer, a common slip.
type hollow struct{ cause error }

func (h *hollow) Error() string { return h.cause.Error() }
func (h *hollow) Unwrap() error { return h.cause }

// fragile is a rate limiter that panics when it is asked what it says.
type fragile struct {
	workqueue.TypedRateLimiter[string]
	in map[string]bool
}

func newFragile(in ...string) fragile {
	f := fragile{always(second), map[string]bool{}}
	for _, method := range in {
		f.in[method] = true
	}
	return f
}

func (f fragile) When(key string) time.Duration {
	if f.in["When"] {
		panic("When")
	}
	return f.TypedRateLimiter.When(key)
}

func (f fragile) Forget(key string) {
	if f.in["Forget"] {
		panic("Forget")
	}
	f.TypedRateLimiter.Forget(key)
}

func (f fragile) NumRequeues(key string) int {
	if f.in["NumRequeues"] {
		panic("NumRequeues")
	}
	return f.TypedRateLimiter.NumRequeues(key)
}

// TestRunContainsPanicsOfSettlers: the error of a call and the rate limiter may panic as the call
// may, whether crashing is disabled or not. The key counts as failed and is retried, even if the
// rate limiter returns no delay.
func TestRunContainsPanicsOfSettlers(t *testing.T) {
	for name, test := range map[string]struct {
		limiter fragile
		outcome error
		first   any // panic
	}{
		"error that is nil inside": {newFragile(), (*hollow)(nil), nil},
		"When":                     {newFragile("When"), errors.New("again"), "When"},
		"Forget":                   {newFragile("Forget"), nil, "Forget"},
		"Forget of a terminal one": {newFragile("Forget"), queue.TerminalError(nil), "Forget"},
		"NumRequeues":              {newFragile("NumRequeues"), errors.New("again"), "NumRequeues"},
		"all":                      {newFragile("When", "Forget", "NumRequeues"), queue.RequeueAfter(second), "Forget"},
	} {
		for _, disabled := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				seen := panics(t, disabled)
				synctest.Test(t, func(t *testing.T) {
					q := newQueue[string](t, queue.WithRateLimiter[string](test.limiter))
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					var calls journal[string]
					var running sync.WaitGroup
					running.Go(func() {
						_ = q.Run(ctx, 1, func(_ context.Context, key string) error {
							calls.add(key)
							return test.outcome
						})
					})
					q.Add("a")
					q.Add("b")
					assert.Equal(t, []string{"a", "b"}, calls.all(), "the next key is served")
					told := seen.all()
					require.NotEmpty(t, told)
					if test.first != nil {
						assert.Equal(t, test.first, told[0])
					}
					assert.Zero(t, q.Stats().InFlight)
					pass(second)
					assert.Len(t, calls.all(), 4, "they are tried again")
					cancel()
					running.Wait()
				})
			})
		}
	}
}

// TestOnePanicIsReportedOnce and the key is known to fail.
func TestOnePanicIsReportedOnce(t *testing.T) {
	seen := panics(t, true)
	synctest.Test(t, func(t *testing.T) {
		var none *hollow
		r := runQueue(t, 1, func(context.Context, string) error { return none })
		r.Add("a")
		assert.Len(t, seen.all(), 1)
		assert.Equal(t, 1, r.Report(1).FailingKeys)
		assert.ErrorContains(t, r.Report(1).Failing[0].Err, "panic: ")
		assert.Equal(t, 1, r.NumRequeues("a"))
		r.cancel()
	})
}

// moody is where a logger writes to, which panics when it is given the key.
type moody struct {
	logr.LogSink
	panics *atomic.Bool
}

func (m moody) WithValues(values ...any) logr.LogSink {
	if m.panics.Load() && values[0] == "key" {
		panic("logger")
	}
	return moody{m.LogSink.WithValues(values...), m.panics}
}

// TestRunContainsALoggerThatPanics before the function is called: the key counts as failed, and
// is tried again.
func TestRunContainsALoggerThatPanics(t *testing.T) {
	seen := panics(t, true)
	synctest.Test(t, func(t *testing.T) {
		var bad atomic.Bool
		bad.Store(true)
		q := newQueue[string](t, queue.WithRateLimiter(always(second)))
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.New(moody{funcr.New(func(string, string) {}, funcr.Options{}).GetSink(), &bad})))
		defer cancel()
		var calls journal[string]
		var running sync.WaitGroup
		running.Go(func() {
			_ = q.Run(ctx, 1, func(_ context.Context, key string) error { calls.add(key); return nil })
		})
		add(q, "a", "b")
		assert.Equal(t, []any{"logger", "logger"}, seen.all())
		assert.Equal(t, queue.Stats{Delayed: 2, Retries: 2}, q.Stats())
		bad.Store(false)
		pass(second)
		assert.Equal(t, []string{"a", "b"}, calls.all())
		cancel()
		running.Wait()
	})
}

// TestLimitersThatPanicForOthers do so at the call, with no lock held.
func TestLimitersThatPanicForOthers(t *testing.T) {
	q := newQueue[string](t, queue.WithRateLimiter[string](newFragile("When")),
		queue.WithFairness(func(key string) string {
			if key == "nobody's" {
				panic("tenant")
			}
			return key
		}))
	assert.PanicsWithValue(t, "When", func() { q.AddRateLimited("a") })
	assert.PanicsWithValue(t, "When", func() { _ = q.TryAdd("a", queue.AddOptions{RateLimited: true}) })
	assert.PanicsWithValue(t, "tenant", func() { q.Add("nobody's") })
	q.Add("a")
	assert.Equal(t, 1, q.Len())
	q.ShutDown()
}

// explosive is a metrics provider whose metrics panic when they are armed.
type explosive struct {
	silent
	armed *atomic.Bool
	once  bool // they panic once each time that they are armed
}

func (e explosive) NewAddsMetric(string) workqueue.CounterMetric           { return e }
func (e explosive) NewLatencyMetric(string) workqueue.HistogramMetric      { return e }
func (e explosive) NewWorkDurationMetric(string) workqueue.HistogramMetric { return e }
func (e explosive) NewRetriesMetric(string) workqueue.CounterMetric        { return e }
func (e explosive) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return e
}

func (e explosive) Inc()          { e.Observe(0) }
func (e explosive) Set(v float64) { e.Observe(v) }
func (e explosive) Observe(float64) {
	if e.armed.Load() {
		e.armed.Store(!e.once)
		panic("metric")
	}
}

// TestMetricsThatPanic with crashing disabled change nothing.
func TestMetricsThatPanic(t *testing.T) {
	seen := panics(t, true)
	synctest.Test(t, func(t *testing.T) {
		var armed atomic.Bool
		armed.Store(true)
		q := newQueue[string](t, queue.WithName("q"), queue.WithMetrics(explosive{armed: &armed}))
		add(q, "a", "b")
		q.AddAfter("c", second)
		pass(second)
		assert.Equal(t, queue.Stats{Waiting: 3, Retries: 1, OldestAge: second}, q.Stats())
		assert.Equal(t, []string{"a", "b", "c"}, work(t, q))
		pass(time.Minute)
		assert.Len(t, seen.all(), 4+3+3+3, "retried, added, handed out, done, and set in three half seconds")
		q.ShutDown()
	})
}

// TestMetricsPanicAndCallersRecover leave no lock held, and lose nothing.
func TestMetricsPanicAndCallersRecover(t *testing.T) {
	panics(t, false)
	synctest.Test(t, func(t *testing.T) {
		var armed atomic.Bool
		armed.Store(true)
		q := newQueue[string](t, queue.WithName("q"), queue.WithMetrics(explosive{armed: &armed, once: true}))
		got := make(chan string, 1)
		go func() {
			key, _ := q.Get()
			got <- key
		}()
		synctest.Wait()
		assert.PanicsWithValue(t, "metric", func() { q.Add("a") })
		assert.Equal(t, "a", <-got, "a worker is woken")
		armed.Store(true)
		assert.PanicsWithValue(t, "metric", func() { q.Done("a") })
		armed.Store(true)
		assert.PanicsWithValue(t, "metric", func() { q.AddAfter("a", time.Hour) })
		assert.Equal(t, queue.Stats{Delayed: 1, Retries: 1}, q.Stats())
		q.ShutDown()
	})
}

// brokenClock makes no timers while it is broken.
type brokenClock struct {
	clock.RealClock
	broken *atomic.Bool
}

func (c brokenClock) NewTimer(d time.Duration) clock.Timer {
	if c.broken.Load() {
		panic("timer")
	}
	return c.RealClock.NewTimer(d)
}

// TestAClockThatPanics does not end the goroutine of the queue, which continues after a while.
func TestAClockThatPanics(t *testing.T) {
	seen := panics(t, true)
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		broken.Store(true)
		q := newQueue[string](t, queue.WithClock(brokenClock{broken: &broken}))
		q.AddAfter("a", 10*second)
		pass(3 * second)
		assert.NotEmpty(t, seen.all())
		assert.Less(t, len(seen.all()), 10)
		broken.Store(false)
		pass(8 * second)
		assert.Equal(t, 1, q.Len())
		q.ShutDown()
	})
}

// TestPanicsEndTheProcess if crashing is not disabled and no caller can recover.
func TestPanicsEndTheProcess(t *testing.T) {
	if os.Getenv("QUEUE_PANIC") != "" {
		var broken atomic.Bool
		broken.Store(true)
		q := newQueue[string](t, queue.WithClock(brokenClock{broken: &broken}))
		q.AddAfter("a", time.Hour)
		select {}
	}
	c := exec.Command(os.Args[0], "-test.run=^TestPanicsEndTheProcess$", "-test.timeout=20s")
	c.Env = append(os.Environ(), "QUEUE_PANIC=1")
	out, err := c.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "brokenClock.NewTimer", "the stack of who panicked is told")
}

// faultyClock panics when it is asked for the time, if it is armed.
type faultyClock struct {
	clock.RealClock
	armed *atomic.Bool
}

func (c faultyClock) Since(t time.Time) time.Duration {
	if c.armed.Load() {
		panic("clock")
	}
	return c.RealClock.Since(t)
}

// TestAClockThatPanicsForOthers does so at the call, which changes nothing and holds no lock.
func TestAClockThatPanicsForOthers(t *testing.T) {
	for name, call := range map[string]func(q *queue.WorkQueue[string]){
		"Add":            func(q *queue.WorkQueue[string]) { q.Add("b") },
		"AddAfter":       func(q *queue.WorkQueue[string]) { q.AddAfter("b", second) },
		"AddRateLimited": func(q *queue.WorkQueue[string]) { q.AddRateLimited("b") },
		"AddWithOptions": func(q *queue.WorkQueue[string]) { q.AddWithOptions("a", queue.AddOptions{Priority: 1}) },
		"TryAdd":         func(q *queue.WorkQueue[string]) { _ = q.TryAdd("b", queue.AddOptions{}) },
		"Get":            func(q *queue.WorkQueue[string]) { q.Get() },
		"GetBatch":       func(q *queue.WorkQueue[string]) { _, _ = q.GetBatch(t.Context(), make([]string, 1)) },
		"Done":           func(q *queue.WorkQueue[string]) { q.Done("dirty") },
		"Stats":          func(q *queue.WorkQueue[string]) { q.Stats() },
		"Report":         func(q *queue.WorkQueue[string]) { q.Report(1) },
		"KeyState":       func(q *queue.WorkQueue[string]) { q.KeyState("dirty") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var armed atomic.Bool
				q := newQueue[string](t, queue.WithClock(faultyClock{armed: &armed}),
					queue.WithName("q"), queue.WithMetrics(silent{}))
				q.Add("dirty")
				_, _ = q.Get()
				add(q, "dirty", "a")
				before := q.Stats()
				synctest.Wait() // the queue's own goroutine sleeps
				armed.Store(true)
				assert.PanicsWithValue(t, "clock", func() { call(q) })
				armed.Store(false)
				assert.Equal(t, before, q.Stats())
				q.Done("dirty")
				assert.Equal(t, []string{"a", "dirty"}, work(t, q))
				q.ShutDown()
			})
		})
	}
}

// TestAClockThatPanicsInTheBackground holds no lock either, and the queue's goroutine continues.
func TestAClockThatPanicsInTheBackground(t *testing.T) {
	seen := panics(t, true)
	synctest.Test(t, func(t *testing.T) {
		var armed atomic.Bool
		q := newQueue[string](t, queue.WithClock(faultyClock{armed: &armed}))
		q.AddAfter("a", 10*second)
		pass(9 * second)
		armed.Store(true)
		pass(3 * second)
		assert.NotEmpty(t, seen.all())
		assert.Zero(t, q.Len())
		armed.Store(false)
		pass(second)
		assert.Equal(t, 1, q.Len())
		q.ShutDown()
	})
}

// TestRunGoesOnWhenAClockPanics: each key is processed and done once the clock is well.
func TestRunGoesOnWhenAClockPanics(t *testing.T) {
	for name, fails := range map[string]error{"once": nil, "again and again": errors.New("again")} {
		t.Run(name, func(t *testing.T) {
			seen := panics(t, true)
			synctest.Test(t, func(t *testing.T) {
				var armed atomic.Bool
				q := newQueue[string](t, queue.WithClock(faultyClock{armed: &armed}), queue.WithRateLimiter(always(second)),
					queue.WithSlowReconciles(second, second))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var calls journal[string]
				var running sync.WaitGroup
				running.Go(func() {
					_ = q.Run(ctx, 1, func(_ context.Context, key string) error {
						calls.add(key)
						if len(calls.all()) == 1 {
							q.Add("a") // looks at the time when it is done
						}
						armed.Store(true)
						return fails
					})
				})
				add(q, "a", "b")
				pass(3 * second)
				assert.NotEmpty(t, seen.all())
				assert.Equal(t, []string{"a"}, calls.all())
				for range 20 {
					armed.Store(false)
					pass(second)
				}
				armed.Store(false)
				assert.Contains(t, calls.all()[1:], "a")
				assert.Contains(t, calls.all(), "b")
				if fails != nil {
					assert.Greater(t, len(calls.all()), 6, "they are tried again")
				}
				cancel()
				running.Wait()
			})
		})
	}
}

// meddling is a context that adds a key while a worker that is about to sleep holds the lock.
type meddling struct {
	context.Context
	add func()
}

func (m meddling) Err() error { m.add(); return m.Context.Err() }

// TestMetricPanicsAsAWorkerFallsAsleep: the worker does not count as one that sleeps, and the
// others are woken.
func TestMetricPanicsAsAWorkerFallsAsleep(t *testing.T) {
	panics(t, false)
	synctest.Test(t, func(t *testing.T) {
		var armed atomic.Bool
		armed.Store(true)
		q := newQueue[string](t, queue.WithName("q"), queue.WithMetrics(explosive{armed: &armed, once: true}))
		once := sync.OnceFunc(func() { q.Add("a") })
		assert.PanicsWithValue(t, "metric", func() { _, _ = q.GetContext(meddling{t.Context(), once}) })
		key, _ := q.Get()
		assert.Equal(t, "a", key)
		q.Done(key)
		var served atomic.Int64
		var workers sync.WaitGroup
		for range 2 {
			workers.Go(func() {
				for {
					key, end := q.Get()
					if end {
						return
					}
					served.Add(1)
					time.Sleep(time.Second)
					q.Done(key)
				}
			})
		}
		synctest.Wait()
		for _, key := range []string{"b", "c", "d"} {
			q.Add(key)
		}
		time.Sleep(10 * time.Second)
		assert.EqualValues(t, 3, served.Load())
		q.ShutDown()
		workers.Wait()
	})
}
