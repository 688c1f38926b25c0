package queue

import (
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// unlock makes the adds that were left, gives mu up, and wakes a worker for what waits.
func (q *WorkQueue[K]) unlock() {
	for again := true; again; {
		q.mu.CatchUp()
		w := q.sleepers.Next(q.schedule.len)
		again = q.mu.Unlock()
		w.Wake()
	}
}

// leave leaves an add to who holds mu. If a clock of the user's panics, nothing is left.
func (q *WorkQueue[K]) leave(r *request[K]) {
	if !q.time.Real {
		r.at = q.time.Now()
	}
	if q.mu.Leave(*r) {
		q.unlock()
	}
}

// makeLeft makes the adds that were left. The caller holds mu.
func (q *WorkQueue[K]) makeLeft() {
	now := unknown
	if q.time.Real {
		now = q.time.Now()
	}
	for r, ok := q.mu.Next(); ok; r, ok = q.mu.Next() {
		r.at = max(r.at, now)
		_ = q.add(&r) // it fails if the queue was shut down, which is nothing to report
	}
}

// now returns the time. The caller holds mu, which is given up if the clock panics.
func (q *WorkQueue[K]) now() time.Duration {
	if q.time.Real {
		return q.time.Now()
	}
	return q.timeOrUnlock()
}

func (q *WorkQueue[K]) timeOrUnlock() time.Duration {
	panicked := true
	defer func() {
		if panicked {
			q.unlock()
		}
	}()
	now := q.time.Now()
	panicked = false
	return now
}

// crashed is called by a metric that has panicked. If that ends the process, or a caller
// recovers, the lock is not held for ever, and the adds that were left are done.
func (q *WorkQueue[K]) crashed(panicked any) {
	if utilruntime.ReallyCrash {
		q.makeLeft()
		q.unlock()
	}
}
