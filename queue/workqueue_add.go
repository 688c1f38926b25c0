package queue

import (
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// ErrFull is returned by TryAdd when as many keys wait as WithCapacity allows.
var ErrFull = errors.New("queue: full")

// LowPriority is the priority for keys that are added without anything having
// changed, as those of the first list and of a resync: below that of the
// others, which is 0. It is the one that controller-runtime uses.
const LowPriority = -100

// AddOptions say how to add a key. With the zero value, AddWithOptions does as
// Add.
type AddOptions struct {
	// Priority is compared with that of other keys; the higher one is handed
	// out first.
	Priority int
	// After is a delay: the key is added when it has passed. There is none if
	// After is not positive.
	After time.Duration
	// RateLimited delays the key as AddRateLimited does. If After is positive
	// too, the shorter delay counts. The rate limiter is asked, and may count a
	// failure, even if TryAdd does not add the key.
	RateLimited bool
}

// Add makes the key wait with priority 0. It changes nothing if the key waits
// already.
func (q *WorkQueue[K]) Add(key K) {
	if err := q.put(key, request{}); err != nil {
		q.report(key, err)
	}
}

// AddAfter adds the key when d has passed, or at once if d is not positive. A key
// that is delayed already is added at the earlier of both times. Without
// [WithJoinedDelays] the delay is independent of other adds: a key that is added
// meanwhile is handed out, and added once more when d has passed.
//
// A key that is being processed keeps the priority with which it was handed out;
// others get priority 0. Each call counts as a retry.
func (q *WorkQueue[K]) AddAfter(key K, d time.Duration) {
	if err := q.put(key, request{after: d, retry: true, keep: true}); err != nil {
		q.report(key, err)
	}
}

// AddRateLimited does as AddAfter, with the delay that the rate limiter gives.
func (q *WorkQueue[K]) AddRateLimited(key K) {
	if err := q.validate(key); err != nil {
		q.report(key, err)
		return
	}
	q.AddAfter(key, q.limiter.When(key))
}

// AddWithOptions makes the key wait as o says. If it does already, it gets the
// higher priority of both, for which it goes to the end of the line; if it is
// delayed already, the higher priority and the earlier time.
func (q *WorkQueue[K]) AddWithOptions(key K, o AddOptions) {
	if err := q.try(key, o, false); err != nil {
		q.report(key, err)
	}
}

// TryAdd does as AddWithOptions, but returns an error that wraps ErrFull if the
// queue is at the capacity set by [WithCapacity] and the key is not in it yet. It
// returns one that wraps ErrShutDown if the queue was shut down, and another if
// the key cannot be a key.
func (q *WorkQueue[K]) TryAdd(key K, o AddOptions) error {
	if err := q.try(key, o, true); err != nil {
		return fmt.Errorf("work queue %s: key %v was not added: %w", q.name, key, err)
	}
	return nil
}

func (q *WorkQueue[K]) try(key K, o AddOptions, bounded bool) error {
	r := request{priority: o.Priority, after: o.After, retry: o.After > 0 || o.RateLimited, bounded: bounded}
	if o.RateLimited {
		if err := q.validate(key); err != nil {
			return err
		}
		if d := q.limiter.When(key); o.After <= 0 || d < o.After {
			r.after = d
		}
	}
	return q.put(key, r)
}

// report reports an add that failed. To fail because the queue was shut down is
// normal, and not reported.
func (q *WorkQueue[K]) report(key K, err error) {
	if err != ErrShutDown {
		utilruntime.HandleError(fmt.Errorf("work queue %s: key %v was not added: %w", q.name, key, err))
	}
}

// request is an add.
type request struct {
	priority int
	after    time.Duration
	keep     bool // the priority of a key that is being processed
	retry    bool // it counts as one
	bounded  bool // it heeds the capacity
}

// isDuplicate reports whether r changes nothing, as the key waits already, or
// will when it is done.
func (r request) isDuplicate(e *entry) bool {
	if r.after > 0 || r.retry {
		return false
	}
	return e.inState(waiting) && r.priority <= e.priority || e.inState(dirty) && r.priority <= e.nextPriority
}

func (q *WorkQueue[K]) put(key K, r request) error {
	if err := q.validate(key); err != nil {
		return err
	}
	hash := q.hash(key)
	var tenant string
	var tenantHash uint32
	if q.tenant != nil {
		tenant = q.tenant(key)
		tenantHash = uint32(maphash.String(q.seed, tenant))
	}
	q.lock()
	if q.shutDown {
		q.mu.Unlock()
		return ErrShutDown
	}
	n := q.keys.find(hash, key)
	var e *entry
	if n != noRow {
		if e = &q.keys.row(n).value; r.isDuplicate(e) {
			q.mu.Unlock()
			return nil
		}
	}
	if r.bounded && q.isTooMuch(e, r) {
		q.mu.Unlock()
		return ErrFull
	}
	if e == nil {
		n = q.keys.insert(hash, key)
		e = &q.keys.row(n).value
		if q.tenant != nil {
			q.schedule.addKey(n, tenantHash, tenant)
		}
	}
	if r.retry {
		q.retries++
		q.metrics.retried()
	}
	if r.keep && e.inState(processing) {
		r.priority = e.priority
	}
	now := q.time.now()
	q.trimLater(now)
	if r.after > 0 && !(q.joinedDelays && e.inState(waiting|dirty)) {
		q.delay(n, e, r.priority, later(now, r.after))
	} else {
		q.enqueue(n, e, r.priority, now)
	}
	w := q.sleepers.next(q.schedule.len)
	q.mu.Unlock()
	wake(w)
	return nil
}

// isTooMuch reports whether r is beyond the capacity. The entry is nil if its key
// is not in the queue. The caller holds mu.
func (q *WorkQueue[K]) isTooMuch(e *entry, r request) bool {
	if q.capacity == 0 || q.schedule.len+q.dirty+q.delayed < q.capacity {
		return false
	}
	known := waiting | dirty
	switch {
	case q.joinedDelays:
		known |= delayed
	case r.after > 0:
		known = delayed
	}
	return e == nil || !e.inState(known)
}

// enqueue makes row n, whose entry is e, wait with a priority, or wait again after
// its processing. The caller holds mu.
func (q *WorkQueue[K]) enqueue(n int32, e *entry, priority int, now time.Duration) {
	if q.joinedDelays && e.inState(delayed) {
		priority = max(priority, q.endDelay(e))
		if q.delayed == 0 {
			q.delays.clear() // what is left is out of date, and its rows may go
		}
	}
	switch {
	case e.inState(waiting):
		if priority > e.priority {
			q.metrics.raised(e.priority, priority)
			q.schedule.remove(e)
			e.priority = priority
			q.schedule.push(n, e, now)
		}
		return
	case e.inState(dirty):
		if priority > e.nextPriority {
			q.metrics.raised(e.nextPriority, priority)
			e.nextPriority = priority
		}
		return
	case e.inState(processing):
		e.state |= dirty
		e.nextPriority = priority
		q.dirty++
	default:
		e.priority = priority
		q.schedule.push(n, e, now)
	}
	if m := q.metrics; m != nil {
		m.add(n, priority, now)
		if m.settled {
			m.settled = false
			m.next = now + metricsPeriod
			q.wakeAt(m.next)
		}
	}
}
