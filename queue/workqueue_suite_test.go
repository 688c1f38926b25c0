package queue_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/queue"
)

// The tests of the suite are about what client-go's queue and WorkQueue have in
// common. They run on both, in synctest bubbles, where time is the test's.

type sharedQueue = workqueue.TypedInterface[string]

// implementations are ways to make a queue.
var implementations = map[string]func(t *testing.T) sharedQueue{
	"client-go": func(*testing.T) sharedQueue { return workqueue.NewTyped[string]() },
	"typed":     func(t *testing.T) sharedQueue { return newQueue[string](t) },
}

func newQueue[K comparable](t require.TestingT) *queue.WorkQueue[K] {
	q, err := queue.NewWorkQueue[K]()
	require.NoError(t, err)
	return q
}

// onEach runs a test on each implementation.
func onEach(t *testing.T, test func(t *testing.T, q sharedQueue)) {
	for name, make := range implementations {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := make(t)
				defer q.ShutDown()
				test(t, q)
			})
		})
	}
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
