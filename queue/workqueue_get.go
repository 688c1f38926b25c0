package queue

import (
	"context"
	"fmt"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// Get returns the key whose turn it is, and waits for one if there is none. The caller has to
// call Done with it. When the queue was shut down and no key waits any more, shutDown is true.
func (q *WorkQueue[K]) Get() (key K, shutDown bool) {
	key, err := q.GetContext(context.Background())
	return key, err != nil
}

// GetContext does as Get until ctx ends. From then on it hands out nothing and returns the cause,
// even if keys wait. When the queue was shut down and nothing is left, it returns ErrShutDown.
func (q *WorkQueue[K]) GetContext(ctx context.Context) (K, error) {
	key, _, err := q.GetWithPriority(ctx)
	return key, err
}

// GetWithPriority does as GetContext, and also returns the priority with which the key waited,
// so that the caller can add it with the same one.
func (q *WorkQueue[K]) GetWithPriority(ctx context.Context) (key K, priority int, err error) {
	return q.get(ctx, false)
}

// get does as GetWithPriority. If timed, it looks at the clock.
func (q *WorkQueue[K]) get(ctx context.Context, timed bool) (key K, priority int, err error) {
	q.mu.Lock()
	if err := q.await(ctx); err != nil {
		return key, 0, err
	}
	e := q.handOut(q.timeIf(timed))
	key, priority = e.key, e.priority
	q.unlock()
	return key, priority, nil
}

// GetBatch copies the keys whose turn it is to keys, as many as there are and as fit, and
// returns their number. If there is none, it waits for one. The caller has to call Done with
// each of them. The errors are those of GetContext. If keys is empty, it returns 0 at once.
func (q *WorkQueue[K]) GetBatch(ctx context.Context, keys []K) (int, error) {
	if len(keys) == 0 {
		return 0, nil
	}
	q.mu.Lock()
	if err := q.await(ctx); err != nil {
		return 0, err
	}
	n := min(len(keys), q.schedule.len)
	now := q.timeIf(false)
	for i := range n {
		keys[i] = q.handOut(now).key
	}
	q.unlock()
	return n, nil
}

// await waits for a key to hand out. It returns an error if ctx has ended, or the queue was shut
// down and nothing is left. The caller holds mu, which is given up if there is an error.
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
			q.sleep(ctx)
			continue
		}
		q.unlock() // this worker may have been woken for a key: another is woken then
		return err
	}
}

// sleep waits for the worker to be woken, or ctx to end, without mu, which the caller holds.
func (q *WorkQueue[K]) sleep(ctx context.Context) {
	w, ended, back := q.sleepers.Add(), true, false
	defer func() {
		if !back { // a metric has panicked, see crashed: the worker sleeps no more
			q.mu.Mutex.Lock()
			q.sleepers.Leave(w, ended)
			q.unlock()
		}
	}()
	q.unlock() // and make the adds that were left
	ended = w.Sleep(ctx)
	q.mu.Lock()
	back = true
	q.sleepers.Leave(w, ended)
}

// timeIf returns the time if it is needed, or metrics need it, and otherwise unknown: to look
// at the clock takes as long as to hand out a key. The caller holds mu.
func (q *WorkQueue[K]) timeIf(needed bool) time.Duration {
	if needed || q.metrics != nil {
		return q.now()
	}
	return unknown
}

// handOut hands out the key whose turn it is. The caller holds mu.
func (q *WorkQueue[K]) handOut(now time.Duration) *entry[K] {
	e := q.schedule.pop()
	e.state |= processing
	e.since = now
	q.inWork.Append(&e.node)
	q.inProcess++
	if m := q.metrics; m != nil {
		m.call(func() {
			m.depth.Dec(e.priority)
			m.latency.Observe((now - e.added).Seconds())
			m.inFlight.Inc()
		})
	}
	return e
}

// Done marks a key that was handed out as processed. If it was added meanwhile, it waits again.
// If the key is not being processed, that is reported to utilruntime.HandleError.
func (q *WorkQueue[K]) Done(key K) {
	if !q.done(key) {
		utilruntime.HandleError(fmt.Errorf("work queue %s: Done was called with key %v, which is not being processed", q.name, key))
	}
}

func (q *WorkQueue[K]) done(key K) bool {
	if q.validate(key) != nil {
		return false
	}
	q.mu.Lock()
	e := q.find(key)
	if e == nil || !e.inState(processing) {
		q.unlock()
		return false
	}
	now, began := q.timeIf(e.inState(dirty)), e.since
	e.state &^= processing
	q.inWork.Remove(&e.node)
	q.inProcess--
	if e.inState(dirty) {
		e.state &^= dirty
		q.dirty--
		e.priority = e.nextPriority
		q.schedule.push(e, now)
	}
	q.rest(e)
	if q.shutDown && q.isIdle() {
		q.endEmpty(now)
	}
	q.letGo()
	if m := q.metrics; m != nil {
		m.call(func() {
			m.workDuration.Observe((now - began).Seconds())
			m.inFlight.Dec()
		})
	}
	q.unlock()
	return true
}

// find returns the entry of a key, nil if there is none. It is quick for the key that was handed
// out last, or longest ago. The caller holds mu.
func (q *WorkQueue[K]) find(key K) *entry[K] {
	if n := q.inWork.Last; n != nil && n.Of.key == key {
		return n.Of
	}
	if n := q.inWork.First; n != nil && n.Of.key == key {
		return n.Of
	}
	return q.keys.by.Get(key)
}

// isIdle reports whether nothing waits and nothing is in process. The caller holds mu.
func (q *WorkQueue[K]) isIdle() bool { return q.inProcess == 0 && q.schedule.len == 0 }
