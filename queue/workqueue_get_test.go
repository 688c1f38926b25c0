package queue_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/kubetyped/informer/queue"
)

func TestGetContextWaitsNoLongerThanItsContext(t *testing.T) {
	errBored := errors.New("bored")
	for name, get := range getters {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue[string](t)
				ctx, cancel := context.WithTimeoutCause(t.Context(), second, errBored)
				defer cancel()
				start := time.Now()
				_, err := get(ctx, q)
				require.ErrorIs(t, err, errBored)
				assert.Equal(t, second, time.Since(start))

				q.Add("a")
				_, err = get(ctx, q)
				require.ErrorIs(t, err, errBored, "a context that has ended gets nothing")
				key, err := get(t.Context(), q)
				require.NoError(t, err)
				assert.Equal(t, "a", key)
			})
		})
	}
}

// getters are the ways to get a key with a context.
var getters = map[string]func(ctx context.Context, q *queue.WorkQueue[string]) (string, error){
	"GetContext": func(ctx context.Context, q *queue.WorkQueue[string]) (string, error) { return q.GetContext(ctx) },
	"GetWithPriority": func(ctx context.Context, q *queue.WorkQueue[string]) (string, error) {
		key, _, err := q.GetWithPriority(ctx)
		return key, err
	},
	"GetBatch": func(ctx context.Context, q *queue.WorkQueue[string]) (string, error) {
		var keys [1]string
		_, err := q.GetBatch(ctx, keys[:])
		return keys[0], err
	},
}

func TestGetContextIsWokenByKeysAndByShutDown(t *testing.T) {
	for name, get := range getters {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue[string](t)
				got := make(chan string, 1)
				ask := func() {
					key, err := get(t.Context(), q)
					if err != nil {
						key = err.Error()
					}
					got <- key
				}
				for _, test := range []struct {
					wake func()
					want string
				}{
					{func() { q.Add("a") }, "a"},
					{func() { q.AddAfter("b", second); time.Sleep(second) }, "b"},
					{func() { q.Add("a"); q.Done("a") }, "a"},
					{q.ShutDown, queue.ErrShutDown.Error()},
				} {
					go ask()
					synctest.Wait()
					require.Empty(t, got)
					test.wake()
					synctest.Wait()
					require.Len(t, got, 1)
					require.Equal(t, test.want, <-got)
				}
			})
		})
	}
}

func TestGetBatch(t *testing.T) {
	q := newQueue[int](t)
	for i := range 5 {
		q.AddWithOptions(i, priority(i))
	}
	batch := func(room int) []int {
		keys := make([]int, room)
		n, err := q.GetBatch(t.Context(), keys)
		require.NoError(t, err)
		return keys[:n]
	}
	assert.Empty(t, batch(0))
	assert.Equal(t, []int{4, 3}, batch(2), "in turn")
	assert.Equal(t, []int{2, 1, 0}, batch(10), "no more than there are")
	assert.Equal(t, queue.Stats{InFlight: 5}, q.Stats())
	assert.Empty(t, batch(0), "it does not wait for room")
	for i := range 5 {
		q.Done(i)
	}
	assert.Equal(t, queue.Stats{}, q.Stats())
}

// TestNoWakeUpIsLost: workers stop waiting at any moment. If one that was woken kept the wake-up,
// keys would wait while workers sleep.
func TestNoWakeUpIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue[int](t)
		var handed atomic.Int64
		var working errgroup.Group
		work := func(ctx context.Context) error {
			for {
				key, err := q.GetContext(ctx)
				if err != nil {
					return err
				}
				handed.Add(1)
				q.Done(key)
			}
		}
		patient, stop := context.WithCancel(t.Context())
		for range 2 {
			working.Go(func() error { return work(patient) })
		}
		random := rand.New(rand.NewPCG(1, 2))
		for i := range 3000 {
			ctx, cancel := context.WithCancel(t.Context())
			var trying errgroup.Group
			for range random.IntN(4) {
				trying.Go(func() error { return work(ctx) })
			}
			synctest.Wait()
			var adding sync.WaitGroup
			adding.Go(func() { q.Add(i) })
			adding.Go(cancel)
			adding.Wait()
			synctest.Wait()
			require.EqualValues(t, i+1, handed.Load())
			_ = trying.Wait()
		}
		stop()
		assert.ErrorIs(t, working.Wait(), context.Canceled)
	})
}

// TestManyOfEverything runs real goroutines that add, delay, raise priorities, and process, by
// single keys and in batches, with contexts that end. The last worker of a key has to see all that
// was added for it.
func TestManyOfEverything(t *testing.T) {
	const keys, each = 40, 3000
	q := newQueue[int](t, queue.WithFairness(func(key int) string { return fmt.Sprint(key % 5) }), queue.WithAgeing(3),
		queue.WithName("q"), queue.WithMetrics(fullRecorder{newRecorder()}))
	var asked, taken [keys]atomic.Int64
	var busy [keys]atomic.Bool
	process := func(key int) {
		assert.True(t, busy[key].CompareAndSwap(false, true), "key %d is with two workers", key)
		taken[key].Add(asked[key].Swap(0))
		busy[key].Store(false)
		q.Done(key)
	}
	var producing, working errgroup.Group
	for p := range 6 {
		producing.Go(func() error {
			for i := range each {
				key := (i*7 + p*13) % keys
				asked[key].Add(1)
				if err := addSomehow(q, key, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for w := range 6 {
		working.Go(func() error {
			batch := make([]int, 1+w%3*4)
			for {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(10+w)*time.Microsecond)
				n, err := q.GetBatch(ctx, batch)
				cancel()
				for _, key := range batch[:n] {
					process(key)
				}
				if errors.Is(err, queue.ErrShutDown) {
					return nil
				}
			}
		})
	}
	require.NoError(t, producing.Wait())
	for q.Stats().Delayed > 0 {
		time.Sleep(time.Millisecond) // real time passes, for which there is nothing to wait for
	}
	q.ShutDownWithDrain()
	require.NoError(t, working.Wait())
	for key := range keys {
		assert.EqualValues(t, 6*each/keys, taken[key].Load(), "key %d", key)
	}
	stats := q.Stats()
	stats.Retries = 0
	assert.Equal(t, queue.Stats{}, stats)
}

// addSomehow adds a key in the n-th way.
func addSomehow(q *queue.WorkQueue[int], key, n int) error {
	switch n % 5 {
	case 0:
		q.Add(key)
	case 1:
		q.AddAfter(key, time.Duration(n%50)*time.Microsecond)
	case 2:
		q.AddWithOptions(key, priority(n%3))
	case 3:
		q.AddWithOptions(key, queue.AddOptions{Priority: -1, After: time.Duration(n%20) * time.Microsecond})
	case 4:
		return q.TryAdd(key, queue.AddOptions{})
	}
	return nil
}

func TestGetWithPriorityReturnsThePriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue[string](t)
		defer q.ShutDown()
		next := func() (string, int) {
			key, priority, err := q.GetWithPriority(t.Context())
			require.NoError(t, err)
			return key, priority
		}
		q.AddWithOptions("a", queue.AddOptions{Priority: 1})
		q.AddWithOptions("a", queue.AddOptions{Priority: 7})
		q.AddWithOptions("a", queue.AddOptions{Priority: 5})
		key, priority := next()
		assert.Equal(t, "a", key)
		assert.EqualValues(t, 7, priority, "the highest one counts")

		q.AddWithOptions("a", queue.AddOptions{Priority: queue.LowPriority})
		q.Done("a")
		_, priority = next()
		assert.EqualValues(t, queue.LowPriority, priority, "that of what was processed is over")

		q.AddWithOptions("b", queue.AddOptions{Priority: -3, After: second})
		_, priority = next()
		assert.EqualValues(t, -3, priority)
	})
}
