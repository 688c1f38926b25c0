package queue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/queue"
)

// inJoined runs a test on a queue with joined delays.
func inJoined(t *testing.T, test func(t *testing.T, q *queue.WorkQueue[string])) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue[string](t, queue.WithJoinedDelays())
		defer q.ShutDown()
		test(t, q)
	})
}

func TestJoinedDelaysEndWithAnAdd(t *testing.T) {
	inJoined(t, func(t *testing.T, q *queue.WorkQueue[string]) {
		q.AddWithOptions("a", queue.AddOptions{After: time.Hour, Priority: 5})
		pass(second) // the goroutine waits for the delay to end
		q.Add("a")
		assert.Equal(t, queue.Stats{Waiting: 1, Retries: 1}, q.Stats())
		key, priority, err := q.GetWithPriority(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "a", key)
		assert.EqualValues(t, 5, priority, "the higher one")
		q.Done("a")

		// Nothing is left of the delay, for the end of which the goroutine still waits.
		pass(2 * time.Hour)
		assert.Zero(t, q.Len())
		q.AddAfter("b", second)
		pass(second)
		assert.Equal(t, []string{"b"}, work(t, q))
	})
}

func TestJoinedDelaysOnlyRaisePriorityOfWaitingKeys(t *testing.T) {
	inJoined(t, func(t *testing.T, q *queue.WorkQueue[string]) {
		add(q, "a", "b")
		q.AddWithOptions("b", queue.AddOptions{After: second, Priority: 1})
		q.AddAfter("a", second)
		assert.Equal(t, queue.Stats{Waiting: 2, Retries: 2}, q.Stats())
		assert.Equal(t, []string{"b", "a"}, work(t, q))
		pass(second)
		assert.Zero(t, q.Len())
	})
}

func TestJoinedDelaysOfKeysInProcess(t *testing.T) {
	inJoined(t, func(t *testing.T, q *queue.WorkQueue[string]) {
		q.Add("a")
		get(t, q)
		q.AddAfter("a", second) // as after a failure
		q.Done("a")
		assert.Equal(t, queue.Stats{Delayed: 1, Retries: 1}, q.Stats())
		pass(second)
		get(t, q)

		q.AddAfter("a", second)
		q.Add("a") // an event
		q.AddAfter("a", second)
		q.Done("a")
		assert.Equal(t, queue.Stats{Waiting: 1, Retries: 3}, q.Stats(), "the event's add is all")
		assert.Equal(t, []string{"a"}, work(t, q))
		pass(second)
		assert.Zero(t, q.Len())
	})
}

func TestJoinedDelaysAreWithinTheCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue[string](t, queue.WithJoinedDelays(), queue.WithCapacity(1))
		defer q.ShutDown()
		require.NoError(t, q.TryAdd("a", queue.AddOptions{After: time.Hour}))
		require.ErrorIs(t, q.TryAdd("b", queue.AddOptions{}), queue.ErrFull)
		require.NoError(t, q.TryAdd("a", queue.AddOptions{}), "it takes the place of the other add")
		require.NoError(t, q.TryAdd("a", queue.AddOptions{After: second}), "it changes nothing")
		require.ErrorIs(t, q.TryAdd("b", queue.AddOptions{After: second}), queue.ErrFull)
	})
}
