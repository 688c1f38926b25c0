package queue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/kubetyped/informer/queue"
)

// The tests of the suite are about what client-go's queue and WorkQueue have in
// common. They run on both, in synctest bubbles, where time is the test's.

type sharedQueue = workqueue.TypedRateLimitingInterface[string]

// setup is what both can be given.
type setup struct {
	clock   clock.WithTicker // nil: the real one
	metrics workqueue.MetricsProvider
	limiter workqueue.TypedRateLimiter[string] // nil: the default one
}

// implementations are ways to make a queue. With options for more, a WorkQueue
// still has the semantics of the plain one, as long as priorities are equal and
// tenants do not differ.
var implementations = map[string]func(t *testing.T, s setup) sharedQueue{
	"client-go": func(_ *testing.T, s setup) sharedQueue {
		if s.limiter == nil {
			s.limiter = workqueue.DefaultTypedControllerRateLimiter[string]()
		}
		return workqueue.NewTypedRateLimitingQueueWithConfig(s.limiter, workqueue.TypedRateLimitingQueueConfig[string]{
			Name: "test", MetricsProvider: s.metrics, Clock: s.clock,
		})
	},
	"typed": func(t *testing.T, s setup) sharedQueue { return newQueue[string](t, s.options()...) },
	"typed, with all options": func(t *testing.T, s setup) sharedQueue {
		return newQueue[string](t, append(s.options(),
			queue.WithFairness(func(string) string { return "one" }), queue.WithAgeing(1), queue.WithCapacity(1))...)
	},
}

func (s setup) options() []queue.Option {
	opts := []queue.Option{queue.WithName("test")}
	if s.clock != nil {
		opts = append(opts, queue.WithClock(s.clock))
	}
	if s.metrics != nil {
		opts = append(opts, queue.WithMetrics(s.metrics))
	}
	if s.limiter != nil {
		opts = append(opts, queue.WithRateLimiter(s.limiter))
	}
	return opts
}

func newQueue[K comparable](t require.TestingT, opts ...queue.Option) *queue.WorkQueue[K] {
	q, err := queue.NewWorkQueue[K](opts...)
	require.NoError(t, err)
	return q
}

// onEach runs a test on each implementation.
func onEach(t *testing.T, test func(t *testing.T, q sharedQueue)) {
	onEachWith(t, func() setup { return setup{} }, func(t *testing.T, q sharedQueue, _ setup) { test(t, q) })
}

// onEachWith runs a test on each implementation with what prepare returns.
func onEachWith(t *testing.T, prepare func() setup, test func(t *testing.T, q sharedQueue, s setup)) {
	for name, make := range implementations {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := prepare()
				q := make(t, s)
				defer q.ShutDown()
				test(t, q, s)
			})
		})
	}
}

// pass lets time go by and everything happen that it brings.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// get returns the next key, which has to be there.
func get(t *testing.T, q sharedQueue) string {
	require.Positive(t, q.Len(), "nothing to get")
	key, shutDown := q.Get()
	require.False(t, shutDown)
	return key
}

// work returns the next keys and processes each at once.
func work(t *testing.T, q sharedQueue) []string {
	var keys []string
	for q.Len() > 0 {
		key := get(t, q)
		keys = append(keys, key)
		q.Done(key)
	}
	return keys
}

func add(q sharedQueue, keys ...string) {
	for _, key := range keys {
		q.Add(key)
	}
}
