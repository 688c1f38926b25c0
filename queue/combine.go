package queue

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// combiner has adds that found the lock taken. Who holds the lock makes them, so that who
// adds does not wait for it.
//
// An add is made before any call that begins after it has returned: every method that takes
// the lock first makes the adds that have been left. And no add is forgotten: after a
// goroutine has left one it tries the lock once more; if it is taken still, its holder is
// yet to give it up, and will look after that.
type combiner[K comparable] struct {
	left  atomic.Pointer[leftAdd[K]] // the newest first
	taken *leftAdd[K]                // guarded by the queue's lock; that are being made, the oldest first
	spare sync.Pool                  // of *leftAdd[K]
}

// leftAdd is an add that its caller has left to who holds the lock.
type leftAdd[K comparable] struct {
	request[K]
	at   time.Duration // when it was left, unknown if who makes it can tell
	next *leftAdd[K]   // the one that was left before
}

// get returns a leftAdd that is free. New ones are made many at a time.
func (c *combiner[K]) get() *leftAdd[K] {
	if a, ok := c.spare.Get().(*leftAdd[K]); ok {
		return a
	}
	more := new([64]leftAdd[K])
	for i := range more[1:] {
		c.spare.Put(&more[1+i])
	}
	return &more[0]
}

// lock takes mu and makes the adds that were left. A goroutine that finds it taken yields
// once before it waits: the lock is held so briefly that this costs less than to be put to
// sleep and woken, a sixth of the time where 16 goroutines share two processors.
func (q *WorkQueue[K]) lock() {
	if !q.mu.TryLock() {
		runtime.Gosched()
		q.mu.Lock()
	}
	if q.adds.left.Load() != nil {
		q.makeLeft()
	}
}

// unlock gives mu up, and wakes a worker if there is a key for it. It does not return
// before somebody else has seen to the adds that were left until then.
func (q *WorkQueue[K]) unlock() {
	for {
		if q.adds.left.Load() != nil {
			q.makeLeft()
		}
		w := q.sleepers.next(q.schedule.len)
		q.mu.Unlock()
		wake(w)
		if q.adds.left.Load() == nil || !q.mu.TryLock() {
			return
		}
	}
}

// leave leaves an add to who holds the lock.
func (q *WorkQueue[K]) leave(r *request[K]) {
	at := q.time.unlessReal()
	a := q.adds.get()
	a.request, a.at = *r, at
	for pushed := false; !pushed; pushed = q.adds.left.CompareAndSwap(a.next, a) {
		a.next = q.adds.left.Load()
	}
	if q.mu.TryLock() {
		q.unlock()
	}
}

// makeLeft makes the adds that have been left, in the order in which they were. The caller
// holds mu.
func (q *WorkQueue[K]) makeLeft() {
	for a := q.adds.left.Swap(nil); a != nil; {
		next := a.next
		a.next, q.adds.taken = q.adds.taken, a
		a = next
	}
	q.makeTaken()
}

// makeTaken makes those that were taken. The caller holds mu.
func (q *WorkQueue[K]) makeTaken() {
	now := q.time.ifReal()
	for a := q.adds.taken; a != nil; a = q.adds.taken {
		q.adds.taken = a.next
		r, at := a.request, a.at
		*a = leftAdd[K]{}
		q.adds.spare.Put(a)
		_ = q.add(&r, max(at, now)) // it fails if the queue was shut down, which is nothing to report
	}
}

// now returns the time. If the clock panics, mu is given up, which the caller holds: it has
// changed nothing yet.
func (q *WorkQueue[K]) now() time.Duration {
	if q.time.real {
		return time.Since(q.time.start)
	}
	return q.timeOrUnlock()
}

func (q *WorkQueue[K]) timeOrUnlock() time.Duration {
	now := unknown
	defer func() {
		if now == unknown {
			q.unlock()
		}
	}()
	now = q.time.now()
	return now
}

// crashed is called by a metric that has panicked. If that ends the process, or somebody
// recovers, the lock is not held for ever, and what was left is done.
func (q *WorkQueue[K]) crashed(any) {
	if utilruntime.ReallyCrash {
		q.makeTaken()
		q.unlock()
	}
}
