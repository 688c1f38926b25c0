package queue_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/util/workqueue"
	testclock "k8s.io/utils/clock/testing"

	"github.com/kubetyped/informer/queue"
)

// reported replaces the handlers of errors during a test, and returns the errors that they receive.
func reported(t *testing.T) *[]string {
	var errs []string
	old := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(_ context.Context, err error, _ string, _ ...any) {
		errs = append(errs, err.Error())
	}}
	t.Cleanup(func() { utilruntime.ErrorHandlers = old })
	return &errs
}

func TestOptionsAreChecked(t *testing.T) {
	for want, opts := range map[string][]queue.Option{
		"option is nil":               {nil},
		"the name is empty":           {queue.WithName("")},
		"the clock is nil":            {queue.WithClock(nil)},
		"the metrics provider is nil": {queue.WithMetrics(nil)},
		"metrics need a name":         {queue.WithMetrics(newRecorder())},
		"the rate limiter is nil":     {queue.WithRateLimiter[string](nil)},
		"passed over 0 times":         {queue.WithAgeing(0)},
		"passed over -3 times":        {queue.WithAgeing(-3)},
		"the capacity is 0":           {queue.WithCapacity(0)},
		"the capacity is -1":          {queue.WithCapacity(-1)},
		"the function that returns the tenant of a key is nil":                              {queue.WithFairness[string](nil)},
		"fairness is by a func(int) string, and the queue's keys are of type string":        {queue.WithFairness(func(int) string { return "" })},
		"the rate limiter is a *workqueue.TypedMaxOfRateLimiter[int], and the queue's keys": {queue.WithRateLimiter(workqueue.NewTypedMaxOfRateLimiter[int]())},
	} {
		q, err := queue.NewWorkQueue[string](opts...)
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "work queue string: ")
		assert.Nil(t, q)
	}
	_, err := queue.NewWorkQueue[string](queue.WithAgeing(0), queue.WithName("pods"), queue.WithCapacity(0))
	require.Error(t, err)
	assert.Equal(t, "work queue pods: keys cannot be passed over 0 times, the least is 1\nthe capacity is 0, the least is 1",
		err.Error(), "all of it is told")
}

func TestDoneOfKeyNotInProcess(t *testing.T) {
	errs := reported(t)
	q := newQueue[string](t, queue.WithName("pods"))
	q.Add("waiting")
	q.Done("waiting")
	q.Done("never seen")
	key, _ := q.Get()
	q.Done(key)
	q.Done(key)
	assert.Equal(t, []string{
		"work queue pods: Done was called with key waiting, which is not being processed",
		"work queue pods: Done was called with key never seen, which is not being processed",
		"work queue pods: Done was called with key waiting, which is not being processed",
	}, *errs)
	assert.Equal(t, queue.Stats{}, q.Stats())
	q.Add("waiting")
	assert.Equal(t, []string{"waiting"}, drainAll(t, q), "nothing has changed")
}

// sample is a key that may contain a NaN.
type sample struct {
	name  string
	value [2]float64
}

// TestKeysThatNoMapFindsAreRefused adds keys with a NaN.
func TestKeysThatNoMapFindsAreRefused(t *testing.T) {
	errs := reported(t)
	q := newQueue[sample](t, queue.WithName("q"))
	bad := sample{"bad", [2]float64{0, math.NaN()}}
	checkRefused(t, q, bad, errs, "value is not equal to itself, because it contains a NaN")

	good := sample{"good", [2]float64{0, math.Inf(1)}}
	q.Add(good)
	q.Add(sample{value: [2]float64{math.Copysign(0, -1)}})
	q.Add(sample{})
	assert.Equal(t, []sample{good, {}}, drainAll(t, q), "zeros are equal, whatever their sign")
}

// TestIncomparableKeysAreRefused adds keys whose type is comparable though their values are not.
func TestIncomparableKeysAreRefused(t *testing.T) {
	errs := reported(t)
	q := newQueue[any](t, queue.WithName("q"))
	bad := any([]string{"slice"})
	checkRefused(t, q, bad, errs, "value cannot be compared")
	checkRefused(t, q, any(struct{ in any }{bad}), errs, "value cannot be compared")
	checkRefused(t, q, any(math.NaN()), errs, "value is not equal to itself, because it contains a NaN")

	good := []any{"string", 1, nil, struct{ in any }{}, 1.5, struct{ in any }{"x"}}
	for _, key := range append(good, good...) {
		q.Add(key)
	}
	assert.Equal(t, good, drainAll(t, q))
}

// checkRefused adds a key in every way.
func checkRefused[K comparable](t *testing.T, q *queue.WorkQueue[K], bad K, errs *[]string, why string) {
	*errs = nil
	q.Add(bad)
	q.AddAfter(bad, 0)
	q.AddAfter(bad, second)
	q.AddRateLimited(bad)
	q.AddWithOptions(bad, queue.AddOptions{})
	q.AddWithOptions(bad, queue.AddOptions{RateLimited: true})
	err := q.TryAdd(bad, queue.AddOptions{})
	want := fmt.Sprintf("work queue q: key %v was not added: %s", bad, why)
	require.EqualError(t, err, want)
	assert.Equal(t, []string{want, want, want, want, want, want}, *errs)
	assert.Equal(t, queue.Stats{}, q.Stats())

	*errs = nil
	q.Done(bad)
	assert.Equal(t, []string{fmt.Sprintf("work queue q: Done was called with key %v, which is not being processed", bad)}, *errs)
	q.Forget(bad)
	assert.Zero(t, q.NumRequeues(bad))
	*errs = nil
}

func TestTryAdd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue[string](t, queue.WithName("q"), queue.WithCapacity(3))
		defer q.ShutDown()
		try := func(key string, o queue.AddOptions) error { return q.TryAdd(key, o) }
		require.NoError(t, try("a", queue.AddOptions{}))
		require.NoError(t, try("b", queue.AddOptions{}))
		require.NoError(t, try("c", queue.AddOptions{After: second}))
		full := try("d", queue.AddOptions{})
		require.ErrorIs(t, full, queue.ErrFull)
		assert.EqualError(t, full, "work queue q: key d was not added: queue: full")
		assert.ErrorIs(t, try("a", queue.AddOptions{After: second}), queue.ErrFull, "it would be delayed besides")
		assert.ErrorIs(t, try("c", queue.AddOptions{}), queue.ErrFull, "it would wait besides")
		assert.NoError(t, try("a", queue.AddOptions{Priority: 1}), "it waits already")
		assert.NoError(t, try("c", queue.AddOptions{After: second / 2}), "it is delayed already")

		key, _ := q.Get()
		require.NoError(t, try("d", queue.AddOptions{}), "what is being processed does not count")
		assert.ErrorIs(t, try(key, queue.AddOptions{}), queue.ErrFull)
		q.Add(key)
		assert.NoError(t, try(key, queue.AddOptions{}), "it will wait again already")
		q.Add("e")
		q.AddAfter("f", second)
		assert.Equal(t, queue.Stats{Waiting: 3, InFlight: 1, Dirty: 1, Delayed: 2, Retries: 3}, q.Stats(), "Add and AddAfter do not heed the capacity")

		q.ShutDown()
		over := try("a", queue.AddOptions{})
		assert.ErrorIs(t, over, queue.ErrShutDown)
		assert.EqualError(t, over, "work queue q: key a was not added: queue: shut down")
	})
}

func TestTryAddWithoutCapacity(t *testing.T) {
	q := newQueue[int](t)
	defer q.ShutDown()
	for i := range 10_000 {
		require.NoError(t, q.TryAdd(i, queue.AddOptions{}))
	}
	assert.Equal(t, 10_000, q.Len())
}

func TestUseAfterShutDown(t *testing.T) {
	errs := reported(t)
	q := newQueue[string](t)
	q.Add("a")
	key, _ := q.Get()
	q.ShutDown()

	q.Add("b")
	q.AddAfter("b", 0)
	q.AddAfter("b", second)
	q.AddRateLimited("b")
	q.AddWithOptions("b", queue.AddOptions{Priority: 5, After: second})
	q.Done(key)
	_, err := q.GetContext(t.Context())
	require.ErrorIs(t, err, queue.ErrShutDown)
	n, err := q.GetBatch(t.Context(), make([]string, 3))
	require.ErrorIs(t, err, queue.ErrShutDown)
	assert.Zero(t, n)
	assert.ErrorIs(t, q.Run(t.Context(), 2, func(context.Context, string) error { return errors.New("called") }), queue.ErrShutDown)
	require.NoError(t, q.Drain(t.Context()))
	assert.Equal(t, queue.Stats{}, q.Stats())
	assert.Empty(t, *errs, "it is normal at the end")
}

// TestClockBeforeTheStart: a clock that goes back to before the queue was made is only a clock.
func TestClockBeforeTheStart(t *testing.T) {
	start := time.Now()
	c := testclock.NewFakeClock(start)
	q := newQueue[string](t, queue.WithClock(c))
	defer q.ShutDown()
	c.SetTime(start.Add(-1))
	q.Add("a")
	assert.Equal(t, 1, q.Len())
}
