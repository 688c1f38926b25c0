package queue

import (
	"math"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// timekeeper is the goroutine of a WorkQueue. It runs while something is
// delayed, or metrics have to be set.
type timekeeper struct {
	run     func()         // the goroutine
	running bool           // guarded by the queue's lock
	next    time.Duration  // guarded by the queue's lock; when it wakes up by itself
	hurry   chan struct{}  // has room for one: look again
	timer   clock.Timer    // owned by the goroutine
	ended   sync.WaitGroup // of the goroutine; added to with the queue's lock held
}

// dueBatch is how much comes due before the lock is given up for a moment.
const dueBatch = 256

// delay makes row n wait with a priority when due comes, or when it was to
// before, if that is earlier. The caller holds mu.
func (q *WorkQueue[K]) delay(n int32, priority int, due time.Duration) {
	e := &q.keys.rows[n].value
	if e.is(delayed) {
		e.late = max(e.late, priority)
		if e.delay.due <= due {
			return
		}
	} else {
		e.state |= delayed
		e.late = priority
		q.delayed++
		q.metrics.putOff()
	}
	e.delay = q.delays.push(due, n)
	if len(q.delays.heap) > 2*q.delayed+64 {
		q.delays.retain(q.isCurrent)
	}
	q.wakeAt(due)
}

// isCurrent reports whether d has not been put forward. The caller holds mu.
func (q *WorkQueue[K]) isCurrent(d delay) bool {
	e := &q.keys.rows[d.row].value
	return e.is(delayed) && e.delay == d
}

// wakeAt has the timekeeper look at the queue at a time at the latest. The
// caller holds mu, and the queue is not shut down.
func (q *WorkQueue[K]) wakeAt(at time.Duration) {
	k := &q.keeper
	switch {
	case !k.running:
		k.running = true
		k.next = at
		k.ended.Add(1)
		go k.run()
	case at < k.next:
		k.next = at
		q.hurry()
	}
}

// hurry has the timekeeper look at the queue now.
func (q *WorkQueue[K]) hurry() {
	select {
	case q.keeper.hurry <- struct{}{}:
	default: // it will anyway
	}
}

// punctual is how long after its look at the clock the timekeeper may set its
// timer. If it is longer, it looks again.
const punctual = 10 * time.Microsecond

// keepTime is the timekeeper's goroutine.
func (q *WorkQueue[K]) keepTime() {
	k := &q.keeper
	defer k.ended.Done()
	for {
		now, next, ok := q.catchUp()
		if !ok {
			return
		}
		if next <= now {
			continue
		}
		k.set(q.time.clock, next-now)
		if q.time.now()-now > punctual {
			k.clear() // a test may have set its clock in between
			continue
		}
		select {
		case <-k.timer.C():
		case <-k.hurry:
			k.clear()
		}
	}
}

// set starts the timer.
func (k *timekeeper) set(c clock.Clock, d time.Duration) {
	if k.timer == nil {
		k.timer = c.NewTimer(d)
	} else {
		k.timer.Reset(d)
	}
}

// clear stops the timer.
func (k *timekeeper) clear() {
	if !k.timer.Stop() {
		select {
		case <-k.timer.C():
		default: // clocks of tests have timers as Go's were before 1.23
		}
	}
}

// catchUp adds what has come due, or a part of it, and sets metrics. It returns
// the time, and until when there is nothing else to do, false if that is for
// ever.
func (q *WorkQueue[K]) catchUp() (now, next time.Duration, ok bool) {
	q.mu.Lock()
	if q.shutDown {
		q.keeper.running = false
		q.mu.Unlock()
		return 0, 0, false
	}
	now = q.time.now()
	q.comeDue(now)
	next = time.Duration(math.MaxInt64)
	if q.delayed > 0 {
		next = q.delays.heap[0].due
	} else {
		q.delays.clear()
	}
	if m := q.metrics; m != nil && !m.settled {
		if m.next <= now {
			m.set(q.oldestAge(now), now)
			m.next = now + metricsPeriod
			m.settled = q.schedule.len == 0 && q.inProcess == 0
		}
		if !m.settled {
			next = min(next, m.next)
		}
	}
	q.keeper.next = next
	ok = q.delayed > 0 || q.metrics != nil && !q.metrics.settled
	q.keeper.running = ok
	w := q.parked.next(q.schedule.len)
	q.mu.Unlock()
	wake(w)
	return now, next, ok
}

// comeDue adds what is due, but no more than a batch. The caller holds mu.
func (q *WorkQueue[K]) comeDue(now time.Duration) {
	var due [dueBatch]delay
	n := 0
	for n < len(due) && len(q.delays.heap) > 0 && q.delays.heap[0].due <= now {
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
		late := q.endDelay(d.row)
		q.enqueue(d.row, late, now)
	}
}

// endDelay makes row n, which is delayed, one that is not. It returns the priority
// with which it was to wait. The caller holds mu.
func (q *WorkQueue[K]) endDelay(n int32) int {
	e := &q.keys.rows[n].value
	e.state &^= delayed
	q.delayed--
	q.metrics.cameDue()
	return e.late
}

// forgetDelayed drops what is delayed. The caller holds mu.
func (q *WorkQueue[K]) forgetDelayed() {
	for q.delayed > 0 {
		d := q.delays.pop()
		if !q.isCurrent(d) {
			continue
		}
		q.endDelay(d.row)
		if q.keys.rows[d.row].value.state == 0 {
			q.drop(d.row)
		}
	}
	q.delays = delays{}
}
