package loglimit

import (
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

const (
	// shortest is how long after the first line the next one may follow, and longest
	// how long it takes at most; each interval is twice the one before.
	shortest = time.Second
	longest  = 10 * time.Minute
	// settled is how long something has to go without a failure to work again. A list that
	// succeeds before each watch that fails is no end of the trouble.
	settled = 10 * time.Second
)

// Trouble decides which failures of something that is tried again and again are logged: the
// first one, others at growing intervals while it fails, and when it works again, if it
// does. The zero value is of one that works. Its methods may be called by several goroutines.
type Trouble struct {
	mu       sync.Mutex
	failures int            // guarded by mu; of this trouble, 0: there is none
	since    time.Time      // guarded by mu; when the first of them was
	worked   time.Time      // guarded by mu; since when it works, zero if it fails or never failed
	logged   bool           // guarded by mu; this trouble was logged
	last     time.Time      // guarded by mu; when a failure was last logged
	interval time.Duration  // guarded by mu; until the next may be
	settling *time.Timer    // guarded by mu; nil: none
	ended    bool           // guarded by mu
	logging  sync.WaitGroup // running functions of Work
}

// Fail notes a failure. It returns how many there were in this trouble, since when, and
// whether that is to be logged. The first failure is, unless there was a trouble shortly
// before; later ones are when an interval has passed.
func (t *Trouble) Fail() (failures int, since time.Time, log bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.stop()
	if t.failures == 0 {
		t.since = now
		if now.Sub(t.worked) >= longest {
			t.interval = 0
		}
	}
	t.failures++
	t.worked = time.Time{}
	if t.interval > 0 && now.Sub(t.last) < t.interval {
		return t.failures, t.since, false
	}
	t.last, t.logged = now, true
	t.interval = min(max(2*t.interval, shortest), longest)
	return t.failures, t.since, true
}

// Work notes that it works. If it was logged that it fails, and it works for another ten
// seconds, the function is called, by another goroutine, with the number of failures, since
// when they were, and since when it works.
func (t *Trouble) Work(log func(failures int, since, worked time.Time)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failures == 0 || !t.worked.IsZero() || t.ended {
		return
	}
	t.worked = time.Now()
	t.logging.Add(1)
	t.settling = time.AfterFunc(settled, func() {
		defer t.logging.Done()
		defer utilruntime.HandleCrash()
		if failures, since, worked, ok := t.settle(); ok {
			log(failures, since, worked)
		}
	})
}

// settle ends the trouble, and reports whether that is to be logged.
func (t *Trouble) settle() (failures int, since, worked time.Time, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.settling == nil || time.Since(t.worked) < settled {
		return 0, since, worked, false // it has failed meanwhile
	}
	t.settling = nil
	failures, ok = t.failures, t.logged
	t.failures, t.logged = 0, false
	return failures, t.since, t.worked, ok
}

// End ends the wait for it to work again, which is not logged then, and waits for a call of a
// function given to Work. That function must not call End.
func (t *Trouble) End() {
	t.mu.Lock()
	t.ended = true
	t.stop()
	t.mu.Unlock()
	t.logging.Wait()
}

// stop ends the wait. The caller holds mu.
func (t *Trouble) stop() {
	if t.settling != nil && t.settling.Stop() {
		t.logging.Done()
	}
	t.settling = nil
}
