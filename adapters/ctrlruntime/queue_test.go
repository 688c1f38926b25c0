package ctrlruntime_test

import (
	"math"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/queue"
)

// turnOfLow returns after how many others a request of a low priority is handed
// out, when there are always others.
func turnOfLow(t *testing.T, q priorityQueue) int {
	q.AddWithOpts(at(queue.LowPriority), "low")
	for turn := 1; turn <= 1000; turn++ {
		q.AddWithOpts(at(0), "a", "b")
		next := get(t, q)
		q.Done(next.key)
		if next.key == "low" {
			return turn
		}
	}
	return 0
}

func TestQueueDoesNotStarveLowPriorities(t *testing.T) {
	assert.Equal(t, 33, turnOfLow(t, newQueue(t)), "the default is to pass it over 32 times")
	assert.Equal(t, 6, turnOfLow(t, newQueue(t, queue.WithAgeing(5))))
	assert.Zero(t, turnOfLow(t, newQueue(t, queue.WithAgeing(math.MaxInt))), "priorities are strict")
}

func TestQueueHasAllPriorities(t *testing.T) {
	q := newQueue(t)
	q.AddWithOpts(at(math.MinInt), "last")
	q.AddWithOpts(at(math.MaxInt), "first")
	assert.Equal(t, got{"first", math.MaxInt}, get(t, q))
	assert.Equal(t, got{"last", math.MinInt}, get(t, q))
}

func TestQueueMayBeShutDownAgain(t *testing.T) {
	q := newQueue(t)
	q.ShutDown()
	q.ShutDown()
	q.ShutDownWithDrain()
	assert.True(t, q.ShuttingDown())
}

func TestQueueDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		q.Add("a")
		q.Add("b")
		get(t, q)
		drained := make(chan struct{})
		go func() {
			q.ShutDownWithDrain()
			close(drained)
		}()
		synctest.Wait()
		q.Add("late")
		assert.Equal(t, got{"b", 0}, get(t, q), "it waited")
		q.Done("b")
		synctest.Wait()
		select {
		case <-drained:
			assert.Fail(t, "a is still in process")
		default:
		}
		q.Done("a")
		<-drained
		_, shutDown := q.Get()
		assert.True(t, shutDown)
	})
}

func TestShutDownEndsADrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		q.Add("a")
		drained := make(chan struct{})
		go func() {
			q.ShutDownWithDrain()
			close(drained)
		}()
		synctest.Wait()
		q.ShutDown()
		<-drained
		_, shutDown := q.Get()
		assert.True(t, shutDown)
		assert.Equal(t, 1, q.Stats().Waiting, "it is not handed out any more")
	})
}

func TestQueueCanBeFair(t *testing.T) {
	q := newQueue(t, queue.WithFairness(func(key string) string { return key[:1] }))
	for _, key := range []string{"a1", "a2", "a3", "b1"} {
		q.Add(key)
	}
	assert.Equal(t, []got{{"a1", 0}, {"b1", 0}}, []got{get(t, q), get(t, q)})
}

func TestNewQueueRejectsBadOptions(t *testing.T) {
	_, err := ctrlruntime.NewQueue[string](queue.WithAgeing(0))
	require.Error(t, err)
	_, err = ctrlruntime.NewQueue[string](queue.WithFairness(func(int) string { return "" }))
	require.ErrorContains(t, err, "string")
}

func BenchmarkQueue(b *testing.B) {
	b.Run("impl=typed", func(b *testing.B) { benchmarkQueue(b, newQueue(b)) })
	b.Run("impl=controller-runtime", func(b *testing.B) { benchmarkQueue(b, priorityqueue.New[string]("")) })
}

func benchmarkQueue(b *testing.B, q priorityQueue) {
	defer q.ShutDown()
	priority := queue.LowPriority
	b.ReportAllocs()
	for b.Loop() {
		q.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, "a")
		key, _, _ := q.GetWithPriority()
		q.Forget(key)
		q.Done(key)
	}
}
