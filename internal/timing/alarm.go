package timing

import (
	"math"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/utils/clock"

	"github.com/kubetyped/informer/internal/goroutine"
)

// Alarm runs a goroutine that looks when it is time to. The goroutine runs while there is such
// a time.
type Alarm struct {
	time  *Stopwatch
	look  Look
	run   func()         // the goroutine; made once, so that to start it allocates nothing
	wake  chan struct{}  // has room for one: look now
	timer clock.Timer    // owned by the goroutine
	ended sync.WaitGroup // of the goroutine; added to with the lock held

	running bool          // guarded by the lock
	next    time.Duration // guarded by the lock; when it looks by itself
}

// Look does the work that is due, with its own lock, and calls Next with that held. It
// returns the result of Next, and the time at which it has looked.
type Look func() (now, next time.Duration)

// Never is when there is nothing to look at.
const Never = time.Duration(math.MaxInt64)

// NewAlarm returns an Alarm whose goroutine calls look. Nothing is to be looked at.
func NewAlarm(time *Stopwatch, look Look) *Alarm {
	a := &Alarm{time: time, look: look, wake: make(chan struct{}, 1)}
	a.run = a.goOn
	return a
}

// At makes the goroutine look at a time at the latest. The caller holds the lock.
func (a *Alarm) At(at time.Duration) {
	switch {
	case !a.running:
		a.running = true
		a.next = at
		a.ended.Add(1)
		go a.run()
	case at < a.next:
		a.next = at
		a.Now()
	}
}

// Now makes the goroutine look now, if it runs.
func (a *Alarm) Now() {
	select {
	case a.wake <- struct{}{}:
	default: // it will anyway
	}
}

// Next says when to look next, and returns it. After Never, the goroutine ends. It is called by
// Look, with the lock held.
func (a *Alarm) Next(next time.Duration) time.Duration {
	a.next, a.running = next, next < Never
	return next
}

// Runs reports whether there is a time to look. The caller holds the lock.
func (a *Alarm) Runs() bool { return a.running }

// Wait waits for the goroutine to end.
func (a *Alarm) Wait() { a.ended.Wait() }

// maxTimerLag is how long after its look at the clock the goroutine may set its timer. If it
// is longer, it looks again.
const maxTimerLag = 10 * time.Microsecond

// goOn is the goroutine.
func (a *Alarm) goOn() {
	defer a.ended.Done()
	for a.turn() {
	}
}

// turn looks, and sleeps until it is time to look again. It reports whether there is such a
// time. If a clock panics, and that does not end the process, the goroutine continues after a
// while.
func (a *Alarm) turn() (more bool) {
	more = true
	defer utilruntime.HandleCrash(goroutine.Pause)
	now, next := a.look()
	if next == Never || next <= now {
		return next != Never
	}
	if a.timer == nil {
		a.timer = a.time.Clock.NewTimer(next - now)
	} else {
		a.timer.Reset(next - now)
	}
	if a.time.Now()-now > maxTimerLag { // a test may have set its clock in between
		a.stopTimer()
		return true
	}
	select {
	case <-a.timer.C():
	case <-a.wake:
		a.stopTimer()
	}
	return true
}

func (a *Alarm) stopTimer() {
	if !a.timer.Stop() {
		select {
		case <-a.timer.C():
		default: // clocks of tests have timers as Go's were before 1.23
		}
	}
}
