package queue

import (
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// ErrShutDown is returned by a WorkQueue that was shut down.
var ErrShutDown = errors.New("queue: shut down")

// WorkQueue keeps the keys that have to be processed, and hands them out to
// workers.
//
//  1. A key that waits is in the queue once, however often it is added.
//  2. A key is handed out to one worker at a time. If it is added while it is
//     being processed, it waits again when that is done.
//  3. Whatever is added is handed out later, unless the queue is shut down
//     before a delay has passed.
//  4. Keys are handed out in the order in which they were added.
//
// All methods are safe for concurrent use. It implements client-go's
// workqueue.TypedRateLimitingInterface, with the semantics that this has there.
type WorkQueue[K comparable] struct {
	name  string
	clock clock.Clock
	made  time.Time // the zero of the queue's time
	seed  maphash.Seed

	mu        sync.Mutex
	keys      table[K, entry] // guarded by mu; all that the queue knows of
	schedule  schedule[K]     // guarded by mu; those that wait
	inProcess int             // guarded by mu; those that are handed out
	dirty     int             // guarded by mu; of these, those that were added again
	shutDown  bool            // guarded by mu
	draining  bool            // guarded by mu: ShutDownWithDrain waits
	idle      sync.Cond       // on mu: a drain has come to its end
	parked    parking         // guarded by mu
}

// NewWorkQueue returns an empty queue.
func NewWorkQueue[K comparable]() (*WorkQueue[K], error) {
	q := &WorkQueue[K]{
		clock: clock.RealClock{},
		seed:  maphash.MakeSeed(),
		keys:  newTable[K, entry](),
	}
	q.made = q.clock.Now()
	q.idle.L = &q.mu
	q.schedule = schedule[K]{keys: &q.keys, seed: q.seed, ageing: 32, lines: newTable[lineKey, *node[line]]()}
	return q, nil
}

func (q *WorkQueue[K]) hash(key K) uint32 { return uint32(maphash.Comparable(q.seed, key)) }

// now returns the time since the queue was made.
func (q *WorkQueue[K]) now() time.Duration { return q.clock.Since(q.made) }

// Add makes the key wait, unless it does already. After the queue was shut down
// it does nothing.
func (q *WorkQueue[K]) Add(key K) {
	hash := q.hash(key)
	q.mu.Lock()
	if q.shutDown {
		q.mu.Unlock()
		return
	}
	n := q.keys.find(hash, key)
	if n == noRow {
		n = q.keys.insert(hash, key)
	}
	q.enqueue(n, 0)
	w := q.parked.next(q.schedule.len)
	q.mu.Unlock()
	wake(w)
}

// enqueue makes row n wait with a priority, or wait again after its processing.
// The caller holds mu.
func (q *WorkQueue[K]) enqueue(n, priority int32) {
	e := &q.keys.rows[n].value
	switch {
	case e.is(waiting):
		if priority > e.priority {
			q.schedule.remove(n)
			e.priority = priority
			q.schedule.push(n, q.now())
		}
	case e.is(dirty):
		e.again = max(e.again, priority)
	case e.is(processing):
		e.state |= dirty
		e.again = priority
		e.added = q.now()
		q.dirty++
	default:
		e.priority = priority
		e.added = q.now()
		q.schedule.push(n, e.added)
	}
}

// Len returns how many keys wait to be handed out.
func (q *WorkQueue[K]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.schedule.len
}

// Done tells that a key that was handed out has been processed.
func (q *WorkQueue[K]) Done(key K) {
	hash := q.hash(key)
	q.mu.Lock()
	n := q.keys.find(hash, key)
	if n == noRow || !q.keys.rows[n].value.is(processing) {
		q.mu.Unlock()
		utilruntime.HandleError(fmt.Errorf("work queue %s: Done of key %v, which is not being processed", q.name, key))
		return
	}
	e := &q.keys.rows[n].value
	e.state &^= processing
	q.inProcess--
	if e.is(dirty) {
		e.state &^= dirty
		q.dirty--
		e.priority = e.again
		q.schedule.push(n, q.now())
	} else {
		q.keys.delete(n)
	}
	if q.draining && q.inProcess == 0 && q.schedule.len == 0 {
		q.idle.Broadcast()
	}
	w := q.parked.next(q.schedule.len)
	q.mu.Unlock()
	wake(w)
}

// ShutDown makes the queue ignore what is added from now on.
func (q *WorkQueue[K]) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stop()
	q.draining = false
	q.idle.Broadcast()
}

// stop turns off the queue. The caller holds mu.
func (q *WorkQueue[K]) stop() {
	q.shutDown = true
	q.parked.wakeAll()
}

// ShutDownWithDrain does as ShutDown, and waits.
func (q *WorkQueue[K]) ShutDownWithDrain() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stop()
	q.draining = true
	for q.draining && (q.inProcess > 0 || q.schedule.len > 0) {
		q.idle.Wait()
	}
}

// ShuttingDown reports whether the queue was shut down.
func (q *WorkQueue[K]) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.shutDown
}

var _ workqueue.TypedInterface[string] = (*WorkQueue[string])(nil)
