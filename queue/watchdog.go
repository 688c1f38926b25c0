package queue

import (
	"context"
	"sync"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/kubetyped/informer/internal/goroutine"
)

// watchdog logs the calls of one Run that take too long. It has a timer while a call
// may come to do so, and a goroutine while it looks. The methods of nil do nothing.
type watchdog[K comparable] struct {
	queue   *WorkQueue[K]
	logger  klog.Logger
	looking sync.WaitGroup // for the timer, and the goroutine that it starts

	mu      sync.Mutex
	workers []calls[K]  // what is in them is guarded by mu
	timer   clock.Timer // guarded by mu; nil if no look is due
}

// calls are those of one worker. The methods of nil do nothing.
type calls[K comparable] struct {
	watchdog  *watchdog[K]
	goroutine uint64        // its number
	number    uint64        // of calls so far
	key       K             // of the call under way
	began     time.Duration // that call; unknown if there is none
	logged    bool          // that it lasts
}

// newWatchdog returns one for so many workers, nil if calls are not to be watched.
func newWatchdog[K comparable](q *WorkQueue[K], logger klog.Logger, workers int) *watchdog[K] {
	if q.slow == (slowness{}) {
		return nil
	}
	w := &watchdog[K]{queue: q, logger: logger, workers: make([]calls[K], workers)}
	for i := range w.workers {
		w.workers[i] = calls[K]{watchdog: w, began: unknown}
	}
	return w
}

// newWorker returns the calls of a worker, whose goroutine calls it.
func (w *watchdog[K]) newWorker(worker int) *calls[K] {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.workers[worker]
	c.goroutine = goroutine.ID()
	return c
}

// begin notes that a call begins.
func (c *calls[K]) begin(key K) {
	if c == nil {
		return
	}
	w := c.watchdog
	w.mu.Lock()
	defer w.mu.Unlock()
	c.number++
	c.key, c.began, c.logged = key, w.queue.time.now(), false
	if w.timer == nil {
		w.lookAfter(w.queue.slow.stackAfter)
	}
}

// end notes that the call has ended, and logs it if it was slow.
func (c *calls[K]) end(ctx context.Context) {
	if c == nil {
		return
	}
	q := c.watchdog.queue
	now := q.time.now()
	c.watchdog.mu.Lock()
	took := now - c.began
	c.began = unknown
	c.watchdog.mu.Unlock()
	if took <= q.slow.limit {
		return
	}
	if left, ok := q.slowLog.Next(now); ok {
		klog.FromContext(ctx).Info("Processing was slow", "took", took, "limit", q.slow.limit, "leftOut", left)
	}
}

// lookAfter has the calls looked at after d. The caller holds mu.
func (w *watchdog[K]) lookAfter(d time.Duration) {
	w.looking.Add(1)
	look := func() {
		defer w.looking.Done()
		w.look()
	}
	if c, ok := w.queue.time.clock.(clock.WithDelayedExecution); ok {
		w.timer = c.AfterFunc(d, func() { go look() }) // a test's clock calls it with a lock held
	} else {
		w.timer = clock.RealClock{}.AfterFunc(d, look)
	}
}

// look logs the calls that have lasted for too long, and decides when to look again.
func (w *watchdog[K]) look() {
	w.mu.Lock()
	w.timer = nil
	now, stackAfter := w.queue.time.now(), w.queue.slow.stackAfter
	next := unknown
	var overdue []calls[K]
	for i := range w.workers {
		c := &w.workers[i]
		switch due := c.began + stackAfter; {
		case c.began == unknown || c.logged:
		case due <= now:
			c.logged = true
			overdue = append(overdue, *c)
		case next == unknown || due < next:
			next = due
		}
	}
	if next != unknown {
		w.lookAfter(next - now)
	}
	w.mu.Unlock()
	for _, c := range overdue {
		w.log(c)
	}
}

// log logs that a call lasts, unless it has ended since.
func (w *watchdog[K]) log(c calls[K]) {
	left, ok := w.queue.slowLog.Next(w.queue.time.now())
	if !ok {
		return
	}
	stack := goroutine.Stack(c.goroutine)
	if stack == "" || !w.lasts(c) {
		stack = "it has returned"
	}
	w.logger.Info("Processing does not return", "key", c.key, "since", w.queue.time.at(c.began), "leftOut", left, "stack", stack)
}

// lasts reports whether a call is under way.
func (w *watchdog[K]) lasts(c calls[K]) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, now := range w.workers {
		if now.goroutine == c.goroutine && now.number == c.number && now.began != unknown {
			return true
		}
	}
	return false
}

// stop returns when nobody looks any more. All workers have come to their end.
func (w *watchdog[K]) stop() {
	if w == nil {
		return
	}
	w.mu.Lock()
	if w.timer != nil && w.timer.Stop() {
		w.timer = nil
		w.looking.Done()
	}
	w.mu.Unlock()
	w.looking.Wait()
}
