package queue

import (
	"time"

	"github.com/kubetyped/informer/internal/timing"
)

const dueBatch = 256 // keys that come due before the lock is given up for a moment

// catchUp adds what has come due, or a part of it, sets metrics, and gives memory back. It
// returns the time, and when there is more to do. The alarm calls it.
func (q *WorkQueue[K]) catchUp() (now, next time.Duration) {
	q.mu.Lock()
	if q.shutDown {
		next = q.alarm.Next(timing.Never)
		q.unlock()
		return 0, next
	}
	now = q.now()
	due, e := q.delays.First()
	for n := 0; n < dueBatch && due <= now; n++ {
		q.endDelay(e, e.duePriority, now)
		due, e = q.delays.First()
	}
	next = q.alarm.Next(min(due, q.setMetrics(now), q.trim(now)))
	q.unlock()
	return now, next
}

// dropDelayed drops what is delayed, a batch at a time. The queue is shut down.
func (q *WorkQueue[K]) dropDelayed() {
	for more := true; more; {
		q.mu.Lock()
		for range min(dueBatch, q.delays.Len()) {
			e := q.delays.Any()
			e.state &^= delayed
			q.delays.Remove(&e.item)
			q.rest(e)
			q.metrics.delayEnded()
		}
		more = q.delays.Len() > 0
		q.letGo()
		q.unlock()
	}
}
