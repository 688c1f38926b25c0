package queue

import (
	"math"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/utils/clock"
)

// background is the goroutine of a WorkQueue. It runs while something is delayed,
// metrics have to be set, or the queue has memory that it may not need.
type background struct {
	run     func()         // the goroutine; made once, so that to start it allocates nothing
	running bool           // guarded by the queue's lock
	next    time.Duration  // guarded by the queue's lock; when it wakes up by itself
	wake    chan struct{}  // has room for one: look at the queue now
	timer   clock.Timer    // owned by the goroutine
	ended   sync.WaitGroup // of the goroutine; added to with the queue's lock held
}

// dueBatch is how many keys come due before the lock is given up for a moment.
const dueBatch = 256

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
	defer q.background.ended.Done()
	for q.backgroundTurn() {
	}
}

// pause has a goroutine that has panicked wait, unless the process ends.
func pause(any) {
	if !utilruntime.ReallyCrash {
		time.Sleep(metricsPeriod)
	}
}

// backgroundTurn does what is to be done now and sleeps until there is more. It reports
// whether there can be. If a clock panics, and that does not end the process, the goroutine
// goes on after a while.
func (q *WorkQueue[K]) backgroundTurn() (more bool) {
	more = true
	defer utilruntime.HandleCrash(pause)
	b := &q.background
	now, next, ok := q.catchUp()
	if !ok || next <= now {
		return ok
	}
	b.startTimer(q.time.clock, next-now)
	if q.time.now()-now > maxTimerLag {
		b.stopTimer() // a test may have set its clock in between
		return true
	}
	select {
	case <-b.timer.C():
	case <-b.wake:
		b.stopTimer()
	}
	return true
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

// catchUp adds what has come due, or a part of it, sets metrics, and gives memory back. It
// returns the time, and until when there is nothing else to do, false if that is for ever.
func (q *WorkQueue[K]) catchUp() (now, next time.Duration, ok bool) {
	q.lock()
	b := &q.background
	if q.shutDown {
		b.running = false
		q.unlock()
		return 0, 0, false
	}
	now = q.now()
	for n := 0; n < dueBatch && q.delays.len > 0 && q.delays.at(0).due <= now; n++ {
		e := q.delays.at(0).entry
		q.endDelay(e, e.duePriority, now)
	}
	next = q.setMetrics(now)
	if q.delays.len > 0 {
		next = min(next, q.delays.at(0).due)
	}
	if q.trim(now) {
		next = min(next, q.memory.next)
	}
	b.next = next
	b.running = next < math.MaxInt64
	ok = b.running
	q.unlock()
	return now, next, ok
}

// dropDelayed drops what is delayed, a batch at a time. The queue is shut down.
func (q *WorkQueue[K]) dropDelayed() {
	for more := true; more; {
		q.lock()
		for range min(dueBatch, q.delays.len) {
			e := q.delays.at(q.delays.len - 1).entry // the order does not matter any more
			e.state &^= delayed
			q.delays.remove(e)
			if e.state == 0 {
				q.rest(e)
			}
			q.metrics.delayEnded()
		}
		more = q.delays.len > 0
		q.letGo()
		q.unlock()
	}
}
