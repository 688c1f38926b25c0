package queue

import (
	"context"
	"time"
)

// Get returns the key whose turn it is, and waits for one if there is none. The
// caller has to call Done with it. When the queue was shut down and no key waits
// any more, shutDown is true.
func (q *WorkQueue[K]) Get() (key K, shutDown bool) {
	key, err := q.GetContext(context.Background())
	return key, err != nil
}

// GetContext does as Get until ctx ends. From then on it hands out nothing and
// returns the cause, even if keys wait. It returns ErrShutDown when the queue was
// shut down and nothing is left.
func (q *WorkQueue[K]) GetContext(ctx context.Context) (K, error) {
	key, _, err := q.GetWithPriority(ctx)
	return key, err
}

// GetWithPriority does as GetContext, and also returns the priority with which
// the key waited, so that the caller can add it with the same one.
func (q *WorkQueue[K]) GetWithPriority(ctx context.Context) (key K, priority int, err error) {
	return q.get(ctx, false)
}

// get does as GetWithPriority. If timed, it looks at the clock.
func (q *WorkQueue[K]) get(ctx context.Context, timed bool) (key K, priority int, err error) {
	q.lock()
	if err := q.await(ctx); err != nil {
		return key, 0, err
	}
	row := q.handOut(q.handOutTime(timed))
	key, priority = row.key, row.value.priority
	w := q.sleepers.next(q.schedule.len)
	q.mu.Unlock()
	wake(w)
	return key, priority, nil
}

// GetBatch copies the keys whose turn it is to keys, as many as there are and as
// fit, and returns their number. If there is none, it waits for one. The caller
// has to call Done with each of them. The errors are those of GetContext. If keys
// is empty, it returns 0 at once.
func (q *WorkQueue[K]) GetBatch(ctx context.Context, keys []K) (int, error) {
	if len(keys) == 0 {
		return 0, nil
	}
	q.lock()
	if err := q.await(ctx); err != nil {
		return 0, err
	}
	n := min(len(keys), q.schedule.len)
	now := q.handOutTime(false)
	for i := range n {
		keys[i] = q.handOut(now).key
	}
	w := q.sleepers.next(q.schedule.len)
	q.mu.Unlock()
	wake(w)
	return n, nil
}

// await waits until there is a key to hand out. It returns an error if ctx has
// ended, or the queue was shut down and nothing is left. The caller holds mu; if
// there is an error, it is given up.
func (q *WorkQueue[K]) await(ctx context.Context) error {
	for {
		var err error
		switch {
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case q.schedule.len > 0:
			return nil
		case q.shutDown:
			err = ErrShutDown
		default:
			q.sleepers.wait(ctx, &q.mu)
			continue
		}
		w := q.sleepers.next(q.schedule.len) // this worker may have been woken for it
		q.mu.Unlock()
		wake(w)
		return err
	}
}

// handOutTime returns the time at which keys are handed out, unknown if nobody asks
// for it: to look at the clock takes as long as to hand out a key. The caller
// holds mu.
func (q *WorkQueue[K]) handOutTime(timed bool) time.Duration {
	if timed || q.metrics != nil {
		return q.time.now()
	}
	return unknown
}

// handOut hands out the key whose turn it is. The caller holds mu.
func (q *WorkQueue[K]) handOut(now time.Duration) *row[K, entry] {
	row, n := q.schedule.pop()
	e := &row.value
	e.state |= processing
	e.since = now
	appendRow(&q.keys, &q.inWork, n, e)
	q.inProcess++
	q.metrics.handedOut(n, now)
	return row
}
