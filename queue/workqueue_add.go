package queue

import (
	"errors"
	"fmt"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/internal/timing"
)

// ErrFull is returned by TryAdd when as many keys wait as WithCapacity allows.
var ErrFull = errors.New("queue: full")

// LowPriority is the priority for keys that are added without anything having changed, as those
// of the first list and of a resync. It is the one that controller-runtime uses.
const LowPriority = -100

// AddOptions say how to add a key. With the zero value, AddWithOptions does as Add.
type AddOptions struct {
	Priority int           // the higher one is handed out first
	After    time.Duration // a delay: the key is added when it has passed; none if not positive
	// RateLimited delays the key as AddRateLimited does. If After is positive too, the shorter
	// delay counts. The rate limiter is asked even if TryAdd does not add the key.
	RateLimited bool
}

// Add makes the key wait with priority 0. It changes nothing if the key waits already.
func (q *WorkQueue[K]) Add(key K) { q.report(key, q.put(&request[K]{key: key})) }

// AddAfter adds the key when d has passed, or at once if d is not positive. A key that is delayed
// already is added at the earlier of both times. Without [WithJoinedDelays], a key that is added
// meanwhile is handed out, and added once more when d has passed.
//
// A key that is being processed keeps the priority with which it was handed out; others get
// priority 0. Each call counts as a retry.
func (q *WorkQueue[K]) AddAfter(key K, d time.Duration) {
	q.report(key, q.put(&request[K]{key: key, AddOptions: AddOptions{After: d}, retry: true, keep: true}))
}

// AddRateLimited does as AddAfter, with the delay that the rate limiter gives.
func (q *WorkQueue[K]) AddRateLimited(key K) {
	q.report(key, q.put(&request[K]{key: key, AddOptions: AddOptions{RateLimited: true}, retry: true, keep: true}))
}

// AddWithOptions makes the key wait as o says. If it does already, it gets the higher priority
// of both, for which it goes to the end of the line; if it is delayed already, the higher
// priority and the earlier time.
func (q *WorkQueue[K]) AddWithOptions(key K, o AddOptions) {
	q.report(key, q.put(&request[K]{key: key, AddOptions: o, retry: o.After > 0 || o.RateLimited}))
}

// TryAdd does as AddWithOptions, but returns an error that wraps ErrFull if the queue is at the
// capacity set by [WithCapacity], unless the key has the place already that it would get: it
// waits or, for an add with a delay, is delayed; with [WithJoinedDelays], either of them. It
// returns one that wraps ErrShutDown if the queue was shut down, and another if the key cannot
// be a key.
func (q *WorkQueue[K]) TryAdd(key K, o AddOptions) error {
	if err := q.put(&request[K]{key: key, AddOptions: o, retry: o.After > 0 || o.RateLimited, bounded: true}); err != nil {
		return fmt.Errorf("work queue %s: key %v was not added: %w", q.name, key, err)
	}
	return nil
}

// report reports an add that failed, unless the queue was shut down, which is normal.
func (q *WorkQueue[K]) report(key K, err error) {
	if err != nil && err != ErrShutDown {
		utilruntime.HandleError(fmt.Errorf("work queue %s: key %v was not added: %w", q.name, key, err))
	}
}

// request is an add.
type request[K comparable] struct {
	AddOptions
	key     K
	tenant  string        // of the key, if the queue is fair
	keep    bool          // the priority of a key that is being processed
	retry   bool          // it counts as one
	bounded bool          // the capacity bounds it
	at      time.Duration // when it is made, unknown if the clock was not read
}

// put makes an add, or leaves it to who holds the lock.
func (q *WorkQueue[K]) put(r *request[K]) error {
	if err := q.validate(r.key); err != nil {
		return err
	}
	if r.RateLimited {
		if d := q.limiter.When(r.key); r.After <= 0 || d < r.After {
			r.After = d
		}
	}
	if q.tenant != nil {
		r.tenant = q.tenant(r.key)
	}
	r.at = unknown
	switch {
	case q.mu.TryLock():
	case !r.bounded:
		q.leave(r)
		return nil
	default:
		q.mu.Lock()
	}
	err := q.add(r)
	q.unlock()
	return err
}

// add makes an add. The caller holds mu.
func (q *WorkQueue[K]) add(r *request[K]) error {
	if q.shutDown {
		return ErrShutDown
	}
	e := q.keys.get(r.key)
	switch {
	case e != nil && r.isDuplicate(e):
		return nil
	case r.bounded && q.isTooMuch(e, r):
		return ErrFull
	}
	now := r.at
	if now == unknown {
		now = q.now()
	}
	switch {
	case e == nil:
		e = q.newEntry(r)
		q.trimLater(now)
	case e.state == 0:
		q.keys.getUp(e)
	}
	q.keys.needed.Note(q.keys.wanted())
	priority := r.Priority
	if r.keep && e.inState(processing) {
		priority = e.priority
	}
	if r.After > 0 && !(q.joinedDelays && e.inState(waiting|dirty)) {
		q.delay(e, priority, timing.Later(now, r.After))
	} else {
		q.enqueue(e, priority, now)
	}
	if r.retry {
		q.retries++
		q.metrics.retried()
	}
	return nil
}

// isDuplicate reports whether r adds nothing: the key waits already, or will when it is done.
func (r *request[K]) isDuplicate(e *entry[K]) bool {
	return !r.retry && (e.inState(waiting) && r.Priority <= e.priority || e.inState(dirty) && r.Priority <= e.nextPriority)
}

// isTooMuch reports whether r is beyond the capacity. The caller holds mu.
func (q *WorkQueue[K]) isTooMuch(e *entry[K], r *request[K]) bool {
	if q.capacity == 0 || q.schedule.len+q.dirty+q.delays.Len() < q.capacity {
		return false
	}
	known := waiting | dirty
	switch {
	case q.joinedDelays:
		known |= delayed
	case r.After > 0:
		known = delayed
	}
	return e == nil || !e.inState(known)
}

// delay makes a key wait when due comes, or when it was to, if that is earlier. The caller holds mu.
func (q *WorkQueue[K]) delay(e *entry[K], priority int, due time.Duration) {
	if !e.inState(delayed) {
		e.state |= delayed
		e.duePriority = priority
		q.delays.Push(due, &e.item)
		q.alarm.At(due)
		q.metrics.delayBegan()
		return
	}
	e.duePriority = max(e.duePriority, priority)
	if due < q.delays.Due(&e.item) {
		q.delays.Forward(due, &e.item)
		q.alarm.At(due)
	}
}

// endDelay makes a key that is delayed one that is not, and wait with the higher of two
// priorities: the one that its delay has, and another. The caller holds mu.
func (q *WorkQueue[K]) endDelay(e *entry[K], priority int, now time.Duration) {
	e.state &^= delayed
	q.delays.Remove(&e.item)
	q.enqueue(e, max(priority, e.duePriority), now)
	q.metrics.delayEnded()
}

// enqueue makes a key wait with a priority, now or after its processing. The caller holds mu.
func (q *WorkQueue[K]) enqueue(e *entry[K], priority int, now time.Duration) {
	if q.joinedDelays && e.inState(delayed) {
		q.endDelay(e, priority, now)
		return
	}
	switch {
	case e.inState(waiting):
		if from := e.priority; priority > from {
			q.schedule.remove(e, e.tenant.flow(from))
			e.priority = priority
			q.schedule.push(e, now)
			q.metrics.raised(from, priority)
		}
		return
	case e.inState(dirty):
		if from := e.nextPriority; priority > from {
			e.nextPriority = priority
			q.metrics.raised(from, priority)
		}
		return
	case e.inState(processing):
		e.state |= dirty
		e.nextPriority = priority
		q.dirty++
	default:
		e.priority = priority
		q.schedule.push(e, now)
	}
	if m := q.metrics; m != nil {
		e.added = now
		if m.next == timing.Never {
			m.next = now + metricsPeriod
			q.alarm.At(m.next)
		}
		m.call(func() {
			m.adds.Inc()
			m.depth.Inc(priority)
		})
	}
}
