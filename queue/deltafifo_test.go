package queue_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/queue"
)

// ended is a context with which Take returns at once if there is nothing.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func objects(deltas []queue.Delta[int]) []int {
	list := make([]int, len(deltas))
	for i, d := range deltas {
		list[i] = d.Object
	}
	return list
}

// TestTakeReturnsAllInOrder puts in a delta of each kind; a replace and a
// resync are one each.
func TestTakeReturnsAllInOrder(t *testing.T) {
	q := queue.NewDeltaFIFO[string]()
	q.Put("a", "1")
	q.Put("a", "1") // not merged
	q.Replace(queue.List[string]{Objects: []string{"b", "c", "d"}}, "2")
	q.Put("b", "3")
	q.Add(queue.Delta[string]{Type: queue.Bookmark, ResourceVersion: "4"})
	q.Delete("b", "5")
	q.Add(queue.Delta[string]{Type: queue.Replace, Reason: 7, List: &queue.List[string]{Namespace: "x"}, ResourceVersion: "6"})
	require.Equal(t, 7, q.Len())

	got, err := q.Take(t.Context())

	require.NoError(t, err)
	assert.Equal(t, []queue.Delta[string]{
		{Type: queue.Put, Object: "a", ResourceVersion: "1"},
		{Type: queue.Put, Object: "a", ResourceVersion: "1"},
		{Type: queue.Replace, List: &queue.List[string]{Objects: []string{"b", "c", "d"}}, ResourceVersion: "2"},
		{Type: queue.Put, Object: "b", ResourceVersion: "3"},
		{Type: queue.Bookmark, ResourceVersion: "4"},
		{Type: queue.Delete, Object: "b", ResourceVersion: "5"},
		{Type: queue.Replace, Reason: 7, List: &queue.List[string]{Namespace: "x"}, ResourceVersion: "6"},
	}, got)
	assert.Zero(t, q.Len())
	_, err = q.Take(ended())
	assert.ErrorIs(t, err, context.Canceled, "everything was taken")
}

// TestABatchIsValidUntilTheNextTake puts deltas in while the consumer holds a batch, and modifies
// the batch.
func TestABatchIsValidUntilTheNextTake(t *testing.T) {
	q := queue.NewDeltaFIFO[int]()
	for round := range 5 {
		for i := range 3 + round {
			q.Put(i, "")
		}
		batch, err := q.Take(t.Context())
		require.NoError(t, err)
		for i := range 100 {
			q.Put(1000+i, "")
		}
		require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6}[:3+round], objects(batch))
		for i := range batch {
			batch[i] = queue.Delta[int]{Object: -1, List: &queue.List[int]{}}
		}
		_ = append(batch, queue.Delta[int]{Object: -1})

		next, err := q.Take(t.Context())
		require.NoError(t, err)
		require.Len(t, next, 100)
		for i, d := range next {
			require.Equal(t, queue.Delta[int]{Type: queue.Put, Object: 1000 + i}, d)
		}
	}
}

// TestObjectsAreLetGoByTheNextTake: the garbage collector frees a batch after the next Take, even
// if that finds nothing.
func TestObjectsAreLetGoByTheNextTake(t *testing.T) {
	q := queue.NewDeltaFIFO[*corev1.Pod]()
	object := func() weak.Pointer[corev1.Pod] {
		p := &corev1.Pod{}
		q.Put(p, "")
		q.Replace(queue.List[*corev1.Pod]{Objects: []*corev1.Pod{p}}, "")
		return weak.Make(p)
	}()
	_, err := q.Take(t.Context())
	require.NoError(t, err)
	runtime.GC()
	require.NotNil(t, object.Value(), "the batch has it")

	_, err = q.Take(ended())
	require.Error(t, err)
	runtime.GC()
	assert.Nil(t, object.Value())
	runtime.KeepAlive(q)
}

// TestOnlyTheMemoryOfLargeBatchesIsGivenUp looks at where batches are: small
// ones take turns at two places, a large one is the last at its place.
func TestOnlyTheMemoryOfLargeBatchesIsGivenUp(t *testing.T) {
	for name, test := range map[string]struct {
		size   int
		reused bool
	}{"small": {100, true}, "large": {30_000, false}} {
		q := queue.NewDeltaFIFO[int]()
		place := func() *queue.Delta[int] {
			for i := range test.size {
				q.Put(i, "")
			}
			batch, err := q.Take(t.Context())
			require.NoError(t, err)
			return &batch[0]
		}
		first, _, third := place(), place(), place()
		assert.Equal(t, test.reused, first == third, name)
	}
}

func TestTakeWaitsForADelta(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewDeltaFIFO[int]()
		for i := range 3 { // the wake-up works more than once
			taken := make(chan []int)
			go func() {
				batch, err := q.Take(t.Context())
				assert.NoError(t, err)
				taken <- objects(batch)
			}()
			synctest.Wait()
			select {
			case <-taken:
				t.Fatal("Take returned nothing")
			default:
			}
			q.Put(i, "")
			require.Equal(t, []int{i}, <-taken)
		}
	})
}

func TestTakeEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewDeltaFIFO[int]()
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		result := make(chan error)
		go func() {
			_, err := q.Take(ctx)
			result <- err
		}()
		synctest.Wait()
		cancel(cause)
		require.ErrorIs(t, <-result, cause)

		q.Put(1, "")
		q.Put(2, "")
		batch, err := q.Take(ctx)
		require.NoError(t, err, "what is there is handed out")
		assert.Equal(t, []int{1, 2}, objects(batch))
		_, err = q.Take(ctx)
		assert.ErrorIs(t, err, cause)

		q.Close()
		_, err = q.Take(ctx)
		assert.ErrorIs(t, err, queue.ErrClosed, "a closed queue is known without waiting")
	})
}

func TestCloseDrains(t *testing.T) {
	q := queue.NewDeltaFIFO[int]()
	q.Put(1, "")
	q.Put(2, "")
	q.Close()
	q.Close()
	q.Put(3, "")
	q.Replace(queue.List[int]{Objects: []int{4}}, "")
	assert.Equal(t, 2, q.Len(), "producers are ignored")

	batch, err := q.Take(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2}, objects(batch))
	for range 2 {
		batch, err = q.Take(t.Context())
		assert.ErrorIs(t, err, queue.ErrClosed)
		assert.Empty(t, batch)
	}
}

func TestCloseReleasesAllWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waiting, full := queue.NewDeltaFIFO[int](), queue.NewDeltaFIFO[int]()
		full.SetLimit(1)
		full.Put(1, "")
		done := make(chan string, 4)
		go func() {
			_, err := waiting.Take(t.Context())
			assert.ErrorIs(t, err, queue.ErrClosed)
			done <- "consumer"
		}()
		for range 3 {
			go func() {
				full.Put(2, "")
				done <- "producer"
			}()
		}
		synctest.Wait()
		require.Empty(t, done)

		waiting.Close()
		full.Close()
		synctest.Wait()

		assert.Len(t, done, 4)
		batch, err := full.Take(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []int{1}, objects(batch), "what waited for room is not put in")
	})
}

// TestLimitMakesProducersWait walks one producer up to the limit and past it.
func TestLimitMakesProducersWait(t *testing.T) {
	for name, test := range map[string]struct {
		release func(q *queue.DeltaFIFO[int])
		added   int // of 10, after the release
	}{
		"nothing":      {func(*queue.DeltaFIFO[int]) {}, 3},
		"take":         {func(q *queue.DeltaFIFO[int]) { _, _ = q.Take(ended()) }, 6},
		"higher limit": {func(q *queue.DeltaFIFO[int]) { q.SetLimit(5) }, 5},
		"lower limit":  {func(q *queue.DeltaFIFO[int]) { q.SetLimit(1) }, 3},
		"no limit":     {func(q *queue.DeltaFIFO[int]) { q.SetLimit(0) }, 10},
		"negative":     {func(q *queue.DeltaFIFO[int]) { q.SetLimit(-1) }, 10},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := queue.NewDeltaFIFO[int]()
				q.SetLimit(3)
				added := 0
				producer := make(chan struct{})
				go func() {
					defer close(producer)
					for i := range 10 {
						if i%2 == 0 {
							q.Replace(queue.List[int]{Objects: []int{1, 2, 3, 4, 5}}, "") // counts as one
						} else {
							q.Put(i, "")
						}
						added++
					}
				}()
				synctest.Wait()
				require.Equal(t, 3, added)
				require.Equal(t, 3, q.Len())

				test.release(q)
				synctest.Wait()
				assert.Equal(t, test.added, added)

				q.Close()
				<-producer
			})
		})
	}
}

func TestHighWaterIsTheLongestQueue(t *testing.T) {
	q := queue.NewDeltaFIFO[int]()
	assert.Zero(t, q.HighWater())
	for _, step := range []struct{ put, highWater int }{{3, 3}, {2, 3}, {7, 7}, {1, 7}} {
		for i := range step.put {
			q.Put(i, "")
		}
		assert.Equal(t, step.put, q.Len())
		assert.Equal(t, step.highWater, q.HighWater())
		_, err := q.Take(t.Context())
		require.NoError(t, err)
		assert.Zero(t, q.Len())
	}
	q.Close()
	q.Put(1, "")
	assert.Equal(t, 7, q.HighWater())
}

func TestNoAllocationInSteadyState(t *testing.T) {
	if queue.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	q, p := queue.NewDeltaFIFO[*int](), new(int)
	ctx := t.Context()
	turn := func() {
		for range 50 {
			q.Put(p, "1")
			q.Put(p, "2")
			q.Delete(p, "3")
			q.Add(queue.Delta[*int]{Type: queue.Bookmark, ResourceVersion: "4"})
		}
		if batch, err := q.Take(ctx); err != nil || len(batch) != 200 {
			t.Error("a batch is missing")
		}
	}
	turn()
	turn()
	assert.Zero(t, testing.AllocsPerRun(100, turn))
}
