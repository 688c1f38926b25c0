package queue_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/queue"
)

// TestCrowdLosesNothing has 24 producers add keys, in every way, for 24 workers some of which
// give up waiting and come again; then the queue is shut down. No key is with two workers,
// and each add is followed by a Get that began after it.
func TestCrowdLosesNothing(t *testing.T) {
	for _, keys := range []int{1, 30, 4000} {
		crowd(t, keys)
	}
}

func crowd(t *testing.T, size int) {
	const producers, workers, each = 24, 24, 800
	q := newQueue[int](t)
	type key struct {
		working      atomic.Int32
		added, seen  atomic.Int64 // adds that have begun, and those that had when it was handed out
		asked, given atomic.Int64
	}
	keys := make([]key, size)
	var twice, unasked atomic.Int32
	handle := func(n int) {
		k := &keys[n]
		if k.working.Add(1) > 1 {
			twice.Add(1)
		}
		k.seen.Store(k.added.Load())
		if k.given.Add(1) > k.asked.Load() {
			unasked.Add(1)
		}
		k.working.Add(-1)
		q.Done(n)
	}
	var working, producing sync.WaitGroup
	for w := range workers {
		r := rand.New(rand.NewPCG(uint64(size), uint64(w)))
		working.Go(func() {
			batch := make([]int, 3)
			for {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.IntN(300))*time.Microsecond)
				if w < 4 {
					ctx, cancel = context.WithCancel(context.Background())
				}
				n, err := q.GetBatch(ctx, batch[:1+r.IntN(3)])
				cancel()
				if errors.Is(err, queue.ErrShutDown) {
					return
				}
				for _, key := range batch[:n] {
					handle(key)
				}
			}
		})
	}
	for p := range producers {
		r := rand.New(rand.NewPCG(uint64(size), uint64(100+p)))
		producing.Go(func() {
			for range each {
				n := r.IntN(size)
				keys[n].asked.Add(1)
				switch r.IntN(8) {
				case 0:
					q.AddAfter(n, time.Duration(r.IntN(200))*time.Microsecond)
				case 1:
					assert.NoError(t, q.TryAdd(n, queue.AddOptions{Priority: r.IntN(3)}))
				case 2:
					q.Len()
					fallthrough
				default:
					keys[n].added.Add(1)
					q.Add(n)
				}
			}
		})
	}
	producing.Wait()
	q.ShutDownWithDrain()
	working.Wait()
	assert.Zero(t, twice.Load(), "keys that were with two workers")
	assert.Zero(t, unasked.Load(), "keys that nobody had added")
	lost := 0
	for i := range keys {
		if keys[i].seen.Load() < keys[i].added.Load() {
			lost++
		}
	}
	assert.Zero(t, lost, "keys whose last add no Get has followed")
	assert.Equal(t, 0, q.Stats().Waiting+q.Stats().InFlight+q.Stats().Dirty)
}
