package ctrlruntime_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/queue"
)

// The tests of the suite are about what controller-runtime says of its priority
// queue, and what its controllers rely on. They run on both queues.

type priorityQueue = priorityqueue.PriorityQueue[string]

const second = time.Second

// queues are ways to make a queue with a rate limiter.
var queues = map[string]func(t *testing.T, limiter workqueue.TypedRateLimiter[string]) priorityQueue{
	"controller-runtime": func(_ *testing.T, limiter workqueue.TypedRateLimiter[string]) priorityQueue {
		return priorityqueue.New("", func(o *priorityqueue.Opts[string]) { o.RateLimiter = limiter })
	},
	"typed": func(t *testing.T, limiter workqueue.TypedRateLimiter[string]) priorityQueue {
		var opts []queue.Option
		if limiter != nil {
			opts = append(opts, queue.WithRateLimiter(limiter))
		}
		return newQueue(t, opts...)
	},
}

func newQueue(t require.TestingT, opts ...queue.Option) *ctrlruntime.Queue[string] {
	q, err := ctrlruntime.NewQueue[string](opts...)
	require.NoError(t, err)
	return q
}

func onEachQueue(t *testing.T, test func(t *testing.T, q priorityQueue)) {
	for name, make := range queues {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := make(t, nil)
				defer func() {
					if !q.ShuttingDown() { // controller-runtime's cannot be shut down twice
						q.ShutDown()
					}
				}()
				test(t, q)
			})
		})
	}
}

// pass lets time go by and everything happen that it brings.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// got is what a queue has handed out.
type got struct {
	key      string
	priority int
}

// get returns what is next, which has to be there.
func get(t require.TestingT, q priorityQueue) got {
	require.Positive(t, q.Len(), "nothing to get")
	key, priority, shutDown := q.GetWithPriority()
	require.False(t, shutDown)
	return got{key, priority}
}

// work returns what is next, and is done with each.
func work(t *testing.T, q priorityQueue) []got {
	var all []got
	for q.Len() > 0 {
		next := get(t, q)
		all = append(all, next)
		q.Done(next.key)
		synctest.Wait()
	}
	return all
}

func at(priority int) priorityqueue.AddOpts { return priorityqueue.AddOpts{Priority: &priority} }

func after(d time.Duration, priority int) priorityqueue.AddOpts {
	return priorityqueue.AddOpts{After: d, Priority: &priority}
}

func TestQueueKeepsRequestsOnceAndInOrder(t *testing.T) {
	onEachQueue(t, func(t *testing.T, q priorityQueue) {
		q.AddWithOpts(priorityqueue.AddOpts{})
		assert.Zero(t, q.Len())
		q.AddWithOpts(priorityqueue.AddOpts{}, "a", "b", "a")
		q.Add("c")
		q.Add("b")
		assert.Equal(t, 3, q.Len())
		assert.Equal(t, []got{{"a", 0}, {"b", 0}, {"c", 0}}, work(t, q))
		assert.Zero(t, q.Len())
	})
}

func TestQueueHandsOutHigherPrioritiesFirst(t *testing.T) {
	onEachQueue(t, func(t *testing.T, q priorityQueue) {
		q.AddWithOpts(at(-100), "initial")
		q.Add("changed")
		q.AddWithOpts(at(7), "urgent", "most urgent")
		q.AddWithOpts(at(9), "most urgent")
		q.AddWithOpts(at(-100), "urgent") // not lowered
		assert.Equal(t, []got{{"most urgent", 9}, {"urgent", 7}, {"changed", 0}, {"initial", -100}}, work(t, q))
	})
}

func TestQueueRaisesAPriorityToTheEndOfItsLine(t *testing.T) {
	onEachQueue(t, func(t *testing.T, q priorityQueue) {
		q.AddWithOpts(at(1), "a")
		q.AddWithOpts(at(2), "b", "c")
		q.AddWithOpts(at(2), "a")
		assert.Equal(t, []got{{"b", 2}, {"c", 2}, {"a", 2}}, work(t, q))
	})
}

func TestQueueGivesARequestToOneWorker(t *testing.T) {
	onEachQueue(t, func(t *testing.T, q priorityQueue) {
		q.AddWithOpts(at(5), "a")
		require.Equal(t, got{"a", 5}, get(t, q))
		q.AddWithOpts(at(-1), "a")
		q.AddWithOpts(at(3), "a")
		assert.Equal(t, 1, q.Len())
		next := make(chan got)
		go func() {
			key, priority, _ := q.GetWithPriority()
			next <- got{key, priority}
		}()
		synctest.Wait()
		select {
		case n := <-next:
			assert.Failf(t, "handed out while it is being processed", "%v", n)
		default:
		}
		q.Done("a")
		assert.Equal(t, got{"a", 3}, <-next, "the priority that it had is over")
		q.Done("a")
		synctest.Wait()
		assert.Zero(t, q.Len())
	})
}

func TestQueueDelays(t *testing.T) {
	onEachQueue(t, func(t *testing.T, q priorityQueue) {
		q.AddAfter("a", 3*second)
		q.AddWithOpts(after(2*second, 4), "b")
		q.AddWithOpts(after(4*second, 7), "b", "c")
		q.AddWithOpts(after(-second, 0), "d")
		assert.Equal(t, []got{{"d", 0}}, work(t, q))
		pass(2*second - 1)
		assert.Zero(t, q.Len(), "what is delayed does not count")
		pass(1)
		assert.Equal(t, []got{{"b", 7}}, work(t, q), "the shorter delay, the higher priority")
		pass(2 * second)
		assert.Equal(t, []got{{"c", 7}, {"a", 0}}, work(t, q))
		pass(time.Hour)
		assert.Zero(t, q.Len())
	})
}

func TestQueueEndsADelayWithAnAdd(t *testing.T) {
	onEachQueue(t, func(t *testing.T, q priorityQueue) {
		q.AddWithOpts(after(time.Hour, 3), "a") // as RequeueAfter
		pass(second)
		q.AddWithOpts(at(-100), "a") // an event
		assert.Equal(t, []got{{"a", 3}}, work(t, q))
		pass(2 * time.Hour)
		assert.Zero(t, q.Len(), "the delay is over")
	})
}

func TestQueueDoesNotDelayWaitingKeys(t *testing.T) {
	onEachQueue(t, func(t *testing.T, q priorityQueue) {
		q.Add("a")
		q.Add("b")
		q.AddWithOpts(after(second, 1), "b")
		assert.Equal(t, []got{{"b", 1}, {"a", 0}}, work(t, q))
		pass(second)
		assert.Zero(t, q.Len(), "the delayed add was part of the other")

		q.Add("a")
		get(t, q)
		q.Add("a")
		q.AddRateLimited("a") // the reconciler has failed meanwhile
		q.Done("a")
		assert.Equal(t, []got{{"a", 0}}, work(t, q))
		pass(time.Hour)
		assert.Zero(t, q.Len())
	})
}

// byKey is a rate limiter that delays a request by the seconds that it names, and
// counts.
type byKey struct{ calls map[string]int }

func (l byKey) When(key string) time.Duration {
	l.calls[key]++
	d, _ := time.ParseDuration(key)
	return d
}
func (l byKey) Forget(key string)          { delete(l.calls, key) }
func (l byKey) NumRequeues(key string) int { return l.calls[key] }

func TestQueueLimitsTheRateOfEachRequest(t *testing.T) {
	for name, make := range queues {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := make(t, byKey{map[string]int{}})
				defer q.ShutDown()
				q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, "2s", "1s", "3s")
				q.AddRateLimited("1s")
				q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true, After: second}, "4s", "0.5s")
				synctest.Wait()
				assert.Equal(t, 2, q.NumRequeues("1s"))
				assert.Equal(t, 1, q.NumRequeues("4s"))
				pass(second / 2)
				assert.Equal(t, []got{{"0.5s", 0}}, work(t, q))
				pass(second / 2)
				assert.ElementsMatch(t, []got{{"1s", 0}, {"4s", 0}}, work(t, q), "the shorter one of both delays")
				pass(second)
				assert.Equal(t, []got{{"2s", 0}}, work(t, q))
				pass(second)
				assert.Equal(t, []got{{"3s", 0}}, work(t, q))
				q.Forget("1s")
				assert.Zero(t, q.NumRequeues("1s"))
			})
		})
	}
}

func TestQueueBacksOffByDefault(t *testing.T) {
	onEachQueue(t, func(t *testing.T, q priorityQueue) {
		for _, delay := range []time.Duration{5, 10, 20, 40} {
			q.AddRateLimited("a")
			pass(delay*time.Millisecond - 1)
			assert.Zero(t, q.Len())
			pass(1)
			require.Equal(t, []got{{"a", 0}}, work(t, q))
		}
		q.Forget("a")
		q.AddRateLimited("a")
		pass(5 * time.Millisecond)
		assert.Equal(t, 1, q.Len())
	})
}

func TestQueueKeepsThePriorityThatAControllerAddsAgain(t *testing.T) {
	onEachQueue(t, func(t *testing.T, q priorityQueue) {
		q.AddWithOpts(at(6), "a")
		next := get(t, q)
		q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true, Priority: &next.priority}, next.key)
		q.Done(next.key)
		pass(5 * time.Millisecond)
		assert.Equal(t, []got{{"a", 6}}, work(t, q))

		q.AddWithOpts(at(6), "a")
		get(t, q)
		q.AddAfter("a", second) // a handler says no priority
		q.Done("a")
		pass(second)
		assert.Equal(t, []got{{"a", 0}}, work(t, q))
	})
}

func TestQueueHandsOutNothingAfterShutDown(t *testing.T) {
	onEachQueue(t, func(t *testing.T, q priorityQueue) {
		q.Add("in process")
		get(t, q)
		q.Add("waiting")
		q.AddAfter("delayed", second)
		synctest.Wait()
		require.False(t, q.ShuttingDown())
		q.ShutDown()
		assert.True(t, q.ShuttingDown())
		_, _, shutDown := q.GetWithPriority()
		assert.True(t, shutDown)
		q.Done("in process")
		q.Add("late")
		q.AddRateLimited("late")
		pass(2 * second)
		_, shutDown = q.Get()
		assert.True(t, shutDown)
		assert.Zero(t, q.NumRequeues("late"))
	})
}

func TestQueueLetsGoOfWorkersOnShutDown(t *testing.T) {
	onEachQueue(t, func(t *testing.T, q priorityQueue) {
		ended := make(chan bool, 3)
		for range cap(ended) {
			go func() {
				_, _, shutDown := q.GetWithPriority()
				ended <- shutDown
			}()
		}
		synctest.Wait()
		q.ShutDown()
		for range cap(ended) {
			assert.True(t, <-ended)
		}
	})
}
