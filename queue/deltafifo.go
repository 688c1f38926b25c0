package queue

import (
	"context"
	"errors"
	"sync"
)

// ErrClosed is returned by a queue that was closed.
var ErrClosed = errors.New("queue: closed")

// DeltaFIFO passes changes from their producers to one consumer, in order:
//
//  1. Take returns every delta that was put in, once: those of one producer in the order of
//     its calls, and any that was put in before another was begun before that. Nothing is
//     merged or dropped.
//  2. A list, of everything or of a namespace, is one delta, however many its objects.
//  3. Producers do not wait for the consumer, unless a limit is set.
//  4. Take hands out all that is queued in one swap: a batch shares the cost of the lock.
//
// It knows nothing of keys and of what the objects mean. Producers may call it from any number
// of goroutines. After Close they are ignored, and Take still hands out what was queued before.
type DeltaFIFO[T any] struct {
	mu        sync.Mutex
	queued    []Delta[T] // guarded by mu
	taken     []Delta[T] // owned by the consumer until its next Take
	highWater int        // guarded by mu
	limit     int        // guarded by mu; 0: none
	closed    bool       // guarded by mu
	waiting   bool       // guarded by mu: the consumer sleeps on ready
	batches   uint64     // guarded by mu; that Take has returned

	ready chan struct{} // has room for one: there is something to take
	room  sync.Cond     // on mu: there may be room below the limit
}

const maxKept = 16384 // deltas up to which a batch's memory is kept for later ones

// NewDeltaFIFO returns an empty queue.
func NewDeltaFIFO[T any]() *DeltaFIFO[T] {
	q := &DeltaFIFO[T]{ready: make(chan struct{}, 1)}
	q.room.L = &q.mu
	return q
}

// Put queues that obj is there, new or in a new state, at a version, "" if it is not known.
func (q *DeltaFIFO[T]) Put(obj T, version string) {
	q.Add(Delta[T]{Type: Put, Object: obj, ResourceVersion: version})
}

// Delete queues that obj, which is its last known state, was deleted.
func (q *DeltaFIFO[T]) Delete(obj T, version string) {
	q.Add(Delta[T]{Type: Delete, Object: obj, ResourceVersion: version})
}

// Replace queues that the objects of a list are all that there are. The queue owns its slices.
func (q *DeltaFIFO[T]) Replace(list List[T], version string) {
	q.Add(Delta[T]{Type: Replace, List: &list, ResourceVersion: version})
}

// Add queues a delta of any type. The queue owns what it refers to from then on.
func (q *DeltaFIFO[T]) Add(d Delta[T]) {
	q.mu.Lock()
	for q.limit > 0 && len(q.queued) >= q.limit && !q.closed {
		q.room.Wait()
	}
	if q.closed {
		q.mu.Unlock()
		return
	}
	q.queued = append(q.queued, d)
	q.highWater = max(q.highWater, len(q.queued))
	q.unlock()
}

// unlock gives mu up, and wakes the consumer if it sleeps.
func (q *DeltaFIFO[T]) unlock() {
	wake := q.waiting
	q.waiting = false
	q.mu.Unlock()
	if wake {
		q.ready <- struct{}{}
	}
}

// Take waits until something is queued and returns all of it. The slice belongs to the queue:
// it is valid until the next Take, and the caller may modify it. There is one consumer: calls
// must not overlap. It returns ErrClosed when the queue is closed and empty, and ctx's cause
// when that ends first.
func (q *DeltaFIFO[T]) Take(ctx context.Context) ([]Delta[T], error) {
	if cap(q.taken) > maxKept {
		q.taken = nil
	}
	clear(q.taken)
	for {
		q.mu.Lock()
		if len(q.queued) > 0 {
			q.queued, q.taken = q.taken[:0], q.queued
			q.batches++
			if q.limit > 0 {
				q.room.Broadcast()
			}
			q.mu.Unlock()
			return q.taken, nil
		}
		if q.closed {
			q.mu.Unlock()
			q.taken = nil
			return nil, ErrClosed
		}
		q.waiting = true
		q.mu.Unlock()

		select {
		case <-q.ready:
		case <-ctx.Done():
			q.stopWaiting()
			return nil, context.Cause(ctx)
		}
	}
}

// stopWaiting withdraws the consumer's wish to be woken, or awaits the signal.
func (q *DeltaFIFO[T]) stopWaiting() {
	q.mu.Lock()
	signalled := !q.waiting
	q.waiting = false
	q.mu.Unlock()
	if signalled {
		<-q.ready
	}
}

// SetLimit makes producers wait while n or more deltas are queued, or never if n is not positive.
func (q *DeltaFIFO[T]) SetLimit(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.limit = max(n, 0)
	q.room.Broadcast()
}

// Batch returns how many batches Take has returned when it has returned all that is queued
// now, including those before: who counts batches knows by it when that was consumed.
func (q *DeltaFIFO[T]) Batch() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queued) > 0 {
		return q.batches + 1
	}
	return q.batches
}

// Len returns how many deltas are queued.
func (q *DeltaFIFO[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.queued)
}

// HighWater returns how many deltas were queued at the same time, at most.
func (q *DeltaFIFO[T]) HighWater() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.highWater
}

// Close makes the queue ignore later changes, and ends waits for room. It may be called more
// than once.
func (q *DeltaFIFO[T]) Close() {
	q.mu.Lock()
	q.closed = true
	q.room.Broadcast()
	q.unlock()
}
