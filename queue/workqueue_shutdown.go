package queue

import (
	"context"
	"fmt"
	"time"
)

// ShutDown makes the queue ignore what is added from now on, and drops what is delayed. What
// waits is still handed out; after that, Get reports that the queue was shut down. None of the
// queue's goroutines is left when ShutDown returns.
//
// It may be called more than once. It ends every Drain and ShutDownWithDrain that waits.
func (q *WorkQueue[K]) ShutDown() { q.stop(true) }

// Drain does as ShutDown, and waits until all that was added has been processed: until a worker
// has called Done for each key that waits or is being processed.
//
// If ctx ends before, Drain returns an error that wraps its cause, and if ShutDown is called before,
// one that wraps ErrShutDown. The error says how many keys are left, which are still handed out.
func (q *WorkQueue[K]) Drain(ctx context.Context) error {
	cutShort := q.stop(false)
	var err error
	select {
	case <-q.drained:
	case <-cutShort:
		err = ErrShutDown
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s := q.Stats()
	if s.Waiting+s.InFlight == 0 {
		return nil
	}
	return fmt.Errorf("work queue %s: drain ended early (keys waiting: %d, in process: %d): %w",
		q.name, s.Waiting+s.Dirty, s.InFlight, err)
}

// ShutDownWithDrain does as Drain, for as long as it takes. A ShutDown that ends it is no failure.
func (q *WorkQueue[K]) ShutDownWithDrain() { _ = q.Drain(context.Background()) }

// stop shuts the queue down. It returns a channel that is closed by the next ShutDown, and ends
// all that wait for one, if this is a ShutDown.
func (q *WorkQueue[K]) stop(cutShort bool) <-chan struct{} {
	now := unknown
	if q.metrics != nil {
		now = q.time.Now() // first: if a clock of the user's panics, nothing has changed
	}
	defer q.alarm.Wait()
	defer q.dropDelayed()
	q.mu.Lock()
	if cutShort {
		close(q.cutShort)
		q.cutShort = make(chan struct{})
	}
	next := q.cutShort
	if !q.shutDown {
		q.shutDown = true
		q.sleepers.WakeAll()
		q.alarm.Now()
		if q.isIdle() {
			q.endEmpty(now)
		}
	}
	q.unlock() // not deferred: a metric that panics has given the lock up, see crashed
	return next
}

// endEmpty ends a queue that was shut down and has no key any more: Drain returns, and gauges are
// set for the last time. The caller holds mu.
func (q *WorkQueue[K]) endEmpty(now time.Duration) {
	close(q.drained)
	if m := q.metrics; m != nil {
		m.next = now
		q.setMetrics(now)
	}
}

// ShuttingDown reports whether the queue was shut down.
func (q *WorkQueue[K]) ShuttingDown() bool {
	q.mu.Lock()
	defer q.unlock()
	return q.shutDown
}
