package benchmarks

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
)

// workQueue is a queue of either side, as controllers use it.
type workQueue = workqueue.TypedRateLimitingInterface[index.Key]

// queueSide is a way to make a queue, and to add to it the i-th of some keys.
type queueSide struct {
	impl string
	make func(tb testing.TB, c clock.WithTicker) workQueue
	add  func(q workQueue, i int, key index.Key)
}

// queueSides have the same rate limiter: 1 µs after the first failure of a key, so that a
// benchmark does not wait. None of them has metrics: client-go's has none without a provider.
//
// The side typed-fair shows what it costs this project to have keys of 3
// priorities, and tenants that take turns.
var queueSides = []queueSide{
	{"typed", func(tb testing.TB, c clock.WithTicker) workQueue { return newWorkQueue(tb, c) }, addPlain},
	{"client-go", func(_ testing.TB, c clock.WithTicker) workQueue {
		return workqueue.NewTypedRateLimitingQueueWithConfig(retryLimiter(),
			workqueue.TypedRateLimitingQueueConfig[index.Key]{Name: "pods", Clock: c})
	}, addPlain},
	{"typed-fair", func(tb testing.TB, c clock.WithTicker) workQueue {
		return newWorkQueue(tb, c, queue.WithFairness(func(key index.Key) string { return key.Namespace }))
	}, func(q workQueue, i int, key index.Key) {
		q.(*queue.WorkQueue[index.Key]).AddWithOptions(key, queue.AddOptions{Priority: i % 3})
	}},
}

func addPlain(q workQueue, _ int, key index.Key) { q.Add(key) }

func newWorkQueue(tb testing.TB, c clock.WithTicker, opts ...queue.Option) workQueue {
	opts = append(opts, queue.WithName("pods"), queue.WithClock(c), queue.WithRateLimiter(retryLimiter()))
	q, err := queue.NewWorkQueue[index.Key](opts...)
	require.NoError(tb, err)
	return q
}

func retryLimiter() workqueue.TypedRateLimiter[index.Key] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[index.Key](time.Microsecond, time.Second)
}

// queueKeys returns the keys of n Pods in random order, with new strings, as a handler gets them
// with each event.
func queueKeys(n int) []index.Key {
	keys := make([]index.Key, n)
	for at, i := range rand.New(rand.NewPCG(7, 7)).Perm(n) {
		app := i / 20
		keys[at] = index.Key{Namespace: cluster.NamespaceName(app % cluster.Namespaces), Name: cluster.PodName(app, i)}
	}
	return keys
}

// sameKeys returns keys equal to those given, with new strings.
func sameKeys(keys []index.Key) []index.Key {
	same := make([]index.Key, len(keys))
	for i, key := range keys {
		same[i] = index.Key{Namespace: strings.Clone(key.Namespace), Name: strings.Clone(key.Name)}
	}
	return same
}
