package queue

import (
	"math"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// background is the goroutine of a WorkQueue. It runs while something is delayed,
// metrics have to be set, or the queue has memory that it may not need.
type background struct {
	run     func()         // the goroutine
	running bool           // guarded by the queue's lock
	next    time.Duration  // guarded by the queue's lock; when it wakes up by itself
	wake    chan struct{}  // has room for one: look at the queue now
	timer   clock.Timer    // owned by the goroutine
	ended   sync.WaitGroup // of the goroutine; added to with the queue's lock held
}

// dueBatch is how many keys come due before the lock is given up for a moment.
const dueBatch = 256

// delay makes row n, whose entry is e, wait with a priority when due comes, or
// when it was to before, if that is earlier. The caller holds mu.
func (q *WorkQueue[K]) delay(n int32, e *entry, priority int, due time.Duration) {
	if e.inState(delayed) {
		e.duePriority = max(e.duePriority, priority)
		if e.due <= due {
			return
		}
	} else {
		e.state |= delayed
		e.duePriority = priority
		q.delayed++
		q.metrics.delayBegan()
	}
	d := q.delays.push(due, n)
	e.due, e.delaySeq = d.due, d.seq
	if q.delays.len > 2*q.delayed+pageSize {
		q.delays.sweep(q.isCurrent)
	}
	q.wakeAt(due)
}

// isCurrent reports whether d has not been put forward. The caller holds mu.
func (q *WorkQueue[K]) isCurrent(d delay) bool { return q.keys.row(d.row).value.hasDelay(d) }

// wakeAt has the background goroutine look at the queue at a time at the latest.
// The caller holds mu, and the queue is not shut down.
func (q *WorkQueue[K]) wakeAt(at time.Duration) {
	b := &q.background
	switch {
	case !b.running:
		b.running = true
		b.next = at
		b.ended.Add(1)
		go b.run()
	case at < b.next:
		b.next = at
		q.wakeBackground()
	}
}

// wakeBackground has the background goroutine look at the queue now.
func (q *WorkQueue[K]) wakeBackground() {
	select {
	case q.background.wake <- struct{}{}:
	default: // it will anyway
	}
}

// maxTimerLag is how long after its look at the clock the goroutine may set its
// timer. If it is longer, it looks again.
const maxTimerLag = 10 * time.Microsecond

// runBackground is the background goroutine.
func (q *WorkQueue[K]) runBackground() {
	b := &q.background
	defer b.ended.Done()
	for {
		now, next, ok := q.catchUp()
		if !ok {
			return
		}
		if next <= now {
			continue
		}
		b.startTimer(q.time.clock, next-now)
		if q.time.now()-now > maxTimerLag {
			b.stopTimer() // a test may have set its clock in between
			continue
		}
		select {
		case <-b.timer.C():
		case <-b.wake:
			b.stopTimer()
		}
	}
}

func (b *background) startTimer(c clock.Clock, d time.Duration) {
	if b.timer == nil {
		b.timer = c.NewTimer(d)
	} else {
		b.timer.Reset(d)
	}
}

func (b *background) stopTimer() {
	if !b.timer.Stop() {
		select {
		case <-b.timer.C():
		default: // clocks of tests have timers as Go's were before 1.23
		}
	}
}

// catchUp adds what has come due, or a part of it, sets metrics, and gives memory
// back. It returns the time, and until when there is nothing else to do, false if
// that is for ever.
func (q *WorkQueue[K]) catchUp() (now, next time.Duration, ok bool) {
	q.mu.Lock()
	if q.shutDown {
		q.background.running = false
		q.mu.Unlock()
		return 0, 0, false
	}
	now = q.time.now()
	q.comeDue(now)
	next = time.Duration(math.MaxInt64)
	if q.delayed > 0 {
		next = q.delays.first().due
	} else {
		q.delays.clear()
	}
	if m := q.metrics; m != nil && !m.settled {
		if m.next <= now {
			m.set(q.inWork.first, q.oldestAge(now), now)
			m.next = now + metricsPeriod
			m.settled = q.schedule.len == 0 && q.inProcess == 0
		}
		if !m.settled {
			next = min(next, m.next)
		}
	}
	if q.trim(now) {
		next = min(next, q.trimmer.next)
	}
	q.background.next = next
	ok = q.delayed > 0 || q.metrics != nil && !q.metrics.settled || q.trimmer.active
	q.background.running = ok
	w := q.sleepers.next(q.schedule.len)
	q.mu.Unlock()
	wake(w)
	return now, next, ok
}

// comeDue adds what is due, but no more than a batch. The caller holds mu.
func (q *WorkQueue[K]) comeDue(now time.Duration) {
	var due [dueBatch]delay
	n := 0
	for n < len(due) && q.delays.len > 0 && q.delays.first().due <= now {
		due[n] = q.delays.pop()
		n++
	}
	// The rows lie anywhere in memory. None of these reads has to wait for
	// another; what follows would wait for each.
	current := due[:0]
	for _, d := range due[:n] {
		if q.isCurrent(d) {
			current = append(current, d)
		}
	}
	for _, d := range current {
		e := &q.keys.row(d.row).value
		q.enqueue(d.row, e, q.endDelay(e), now)
	}
}

// endDelay makes a key, which is delayed, one that is not. It returns the priority
// with which it was to wait. The caller holds mu.
func (q *WorkQueue[K]) endDelay(e *entry) int {
	e.state &^= delayed
	q.delayed--
	q.metrics.delayEnded()
	return e.duePriority
}

// dropDelayed drops what is delayed, a batch at a time. The queue is shut down.
func (q *WorkQueue[K]) dropDelayed() {
	for more := true; more; {
		q.mu.Lock()
		for range min(dueBatch, q.delays.len) {
			d := q.delays.popLast() // the order does not matter any more
			if !q.isCurrent(d) {
				continue
			}
			e := &q.keys.row(d.row).value
			if q.endDelay(e); e.state == 0 {
				q.drop(d.row)
			}
		}
		more = q.delays.len > 0
		q.letGo()
		q.mu.Unlock()
	}
}
