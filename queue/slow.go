package queue

import (
	"context"
	"fmt"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/kubetyped/informer/internal/goroutine"
)

// defaultStuck is when a call is Stuck if WithSlowReconciles does not say.
const defaultStuck = 5 * time.Minute

// slowness says which calls of Run take too long.
type slowness struct {
	limit time.Duration // a call that took longer is logged when it has ended; 0: none is watched
	stuck time.Duration // a call that has taken as long is stuck, and logged while it lasts
}

// WithSlowReconciles makes Run log a line for each call of the function that
// processes keys which took longer than limit, with the key and how long it took. A
// call that has not returned after stackAfter is logged, too, once and while it
// lasts, with the stack of its goroutine; Report calls it stuck. With 0, that is after
// 5 minutes. There are up to 6 such lines a minute for a queue, which say how many were
// left out before.
//
// To find a stack, the program stands still for some microseconds for each of its
// goroutines. A call costs two looks at the clock more with this option.
func WithSlowReconciles(limit, stackAfter time.Duration) Option {
	return func(o *options) error {
		switch {
		case limit <= 0:
			return fmt.Errorf("WithSlowReconciles: the limit %v is not positive", limit)
		case stackAfter < 0:
			return fmt.Errorf("WithSlowReconciles: the time %v after which a stack is logged is negative", stackAfter)
		case stackAfter == 0:
			stackAfter = defaultStuck
		}
		o.slow = slowness{limit: limit, stuck: stackAfter}
		return nil
	}
}

// watchdog logs the calls of one worker of a Run that take too long. It has a timer while a
// call may come to do so, and a goroutine while it looks. The methods of nil do nothing.
type watchdog[K comparable] struct {
	run       *run[K]
	goroutine uint64         // of the worker
	looking   sync.WaitGroup // for the timer, and the goroutine that it starts

	mu     sync.Mutex
	call   call[K]     // guarded by mu
	logged bool        // guarded by mu; that it lasts
	timer  clock.Timer // guarded by mu; nil if no look is due
}

// call is one of the function that processes keys.
type call[K comparable] struct {
	key    K
	number uint64
	began  time.Duration // unknown: it has ended
}

// newWatchdog returns one for the worker that calls it, nil if calls are not to be watched.
func newWatchdog[K comparable](r *run[K]) *watchdog[K] {
	if r.slow.limit == 0 {
		return nil
	}
	return &watchdog[K]{run: r, goroutine: goroutine.ID()}
}

// begin notes that a call begins.
func (w *watchdog[K]) begin(key K) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.call, w.logged = call[K]{key, w.call.number + 1, w.run.time.now()}, false
	if w.timer == nil {
		w.lookAfter(w.run.slow.stuck)
	}
}

// end notes that the call has ended, and logs it if it was slow.
func (w *watchdog[K]) end(ctx context.Context) {
	if w == nil {
		return
	}
	w.mu.Lock()
	began := w.call.began
	w.call.began = unknown
	w.mu.Unlock()
	now, limit := w.run.time.now(), w.run.slow.limit
	if began == unknown || now-began <= limit {
		return
	}
	if left, ok := w.run.slowLog.Next(now); ok {
		klog.FromContext(ctx).Info("Processing was slow", "took", now-began, "limit", limit, "leftOut", left)
	}
}

// lookAfter has the call looked at after d. The caller holds mu.
func (w *watchdog[K]) lookAfter(d time.Duration) {
	w.looking.Add(1)
	look := func() {
		defer w.looking.Done()
		defer utilruntime.HandleCrash()
		if c, ok := w.stuck(); ok {
			w.log(c)
		}
	}
	if c, ok := w.run.time.clock.(clock.WithDelayedExecution); ok {
		w.timer = c.AfterFunc(d, func() { go look() }) // a test's clock calls it with a lock held
	} else {
		w.timer = clock.RealClock{}.AfterFunc(d, look)
	}
}

// stuck returns the call if it is stuck since it was last looked at. If it may come to be so,
// it is looked at again.
func (w *watchdog[K]) stuck() (c call[K], ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = nil
	if w.call.began == unknown || w.logged {
		return c, false
	}
	if left := w.call.began + w.run.slow.stuck - w.run.time.now(); left > 0 {
		w.lookAfter(left)
		return c, false
	}
	w.logged = true
	return w.call, true
}

// log logs that a call lasts, unless it has ended since.
func (w *watchdog[K]) log(c call[K]) {
	left, ok := w.run.slowLog.Next(w.run.time.now())
	if !ok {
		return
	}
	stack := goroutine.Stack(w.goroutine)
	w.mu.Lock()
	if w.call != c || stack == "" {
		stack = "it has returned"
	}
	w.mu.Unlock()
	w.run.logger.Info("Processing does not return", "key", c.key, "since", w.run.time.at(c.began), "leftOut", left, "stack", stack)
}

// stop returns when nobody looks any more. The worker is about to end.
func (w *watchdog[K]) stop() {
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
