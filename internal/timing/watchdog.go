package timing

import (
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/utils/clock"

	"github.com/kubetyped/informer/internal/goroutine"
)

// Watchdog watches the calls that one goroutine makes, one after the other, each of which is
// about a key. It has a timer while a call may come to be stuck, and a goroutine while it
// looks. The methods of nil do nothing; those of others are called by that goroutine.
type Watchdog[K any] struct {
	time      *Stopwatch
	stuck     time.Duration
	report    Report[K]
	goroutine uint64
	looking   sync.WaitGroup // for the timer, and the goroutine that it starts

	mu       sync.Mutex
	call     call[K]     // guarded by mu
	reported bool        // guarded by mu; that it lasts
	timer    clock.Timer // guarded by mu; nil if no look is due
	number   uint64      // guarded by mu; of the call
}

// Report is called once for a call that is stuck, with its key, when it began, and a function
// that returns the stack of its goroutine, or "it has returned". It may panic, which is handled.
type Report[K any] func(key K, began time.Duration, stack func() string)

// call is one that is watched.
type call[K any] struct {
	key   K
	began time.Duration
	lasts bool
}

// NewWatchdog returns a Watchdog for the goroutine that calls it. A call is stuck when it has lasted
// as long as that.
func NewWatchdog[K any](watch *Stopwatch, stuck time.Duration, report Report[K]) *Watchdog[K] {
	return &Watchdog[K]{time: watch, stuck: stuck, report: report, goroutine: goroutine.ID()}
}

// Begin notes that a call begins.
func (w *Watchdog[K]) Begin(key K) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.call, w.reported = call[K]{key, w.time.Now(), true}, false
	w.number++
	if w.timer == nil {
		w.lookAfter(w.stuck)
	}
}

// End notes that the call has ended, if there is one, and returns how long it took.
func (w *Watchdog[K]) End() time.Duration {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	ended := w.call
	w.call.lasts = false
	w.mu.Unlock()
	if !ended.lasts {
		return 0
	}
	return w.time.Now() - ended.began
}

// lookAfter schedules a look at the call after d. The caller holds mu.
func (w *Watchdog[K]) lookAfter(d time.Duration) {
	w.looking.Add(1)
	look := func() {
		defer w.looking.Done()
		defer utilruntime.HandleCrash()
		if c, number, ok := w.look(); ok {
			w.report(c.key, c.began, func() string { return w.stack(number) })
		}
	}
	if c, ok := w.time.Clock.(clock.WithDelayedExecution); ok {
		w.timer = c.AfterFunc(d, func() { go look() }) // a test's clock calls it with a lock held
	} else {
		w.timer = clock.RealClock{}.AfterFunc(d, look)
	}
}

// look returns the call, and its number, if it is stuck and was not reported. If it may come
// to be stuck, look schedules the next look.
func (w *Watchdog[K]) look() (c call[K], number uint64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = nil
	if !w.call.lasts || w.reported {
		return c, 0, false
	}
	if left := w.call.began + w.stuck - w.time.Now(); left > 0 {
		w.lookAfter(left)
		return c, 0, false
	}
	w.reported = true
	return w.call, w.number, true
}

// stack returns the stack of the goroutine, unless the call of a number has ended since.
func (w *Watchdog[K]) stack(number uint64) string {
	stack := goroutine.Stack(w.goroutine)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.number != number || !w.call.lasts || stack == "" {
		return "it has returned"
	}
	return stack
}

// Stop returns when the last look has ended. The goroutine makes no more calls.
func (w *Watchdog[K]) Stop() {
	if w == nil {
		return
	}
	w.mu.Lock()
	if w.timer != nil && w.timer.Stop() {
		w.looking.Done()
	}
	w.mu.Unlock()
	w.looking.Wait()
}
