package typed

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
)

// keyVersions notifies the waiters for versions of keys: after each batch, and when versions of
// the source have moved. It costs the informer one look at a counter if there are no waiters.
// If there are many, it checks those of changed objects after each batch, and all of them every
// sweepEvery, because an object may be outside of the selection.
type keyVersions struct {
	waiting  atomic.Int32  // the number of waiters
	consumed atomic.Uint64 // batches of the queue that reads reflect
	again    func()        // the timer calls it; set once, before the first batch

	mu      sync.Mutex
	waiters map[index.Key]map[*keyWaiter]struct{} // guarded by mu
	changed map[*keyWaiter]int                    // guarded by mu; checks left
	swept   time.Time                             // guarded by mu; the last check of all
	timer   *time.Timer                           // guarded by mu; for the next check of all, nil: none
}

// keyWaiter is called until it is removed.
type keyWaiter struct {
	key   index.Key
	ready func() bool // called without a lock
	look  func()      // called by the informer without a lock when it is ready; must return soon
}

const (
	// Up to fewWaiters are all checked after each batch.
	fewWaiters = 64
	sweepEvery = 100 * time.Millisecond
	// The source may report a version some batches after the object.
	askedAfterChange = 4
)

// lookIfReady asks the source for the version of the key.
func (w *keyWaiter) lookIfReady() {
	if w.ready() {
		w.look()
	}
}

func (v *keyVersions) add(w *keyWaiter) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.waiters == nil {
		v.waiters, v.changed = map[index.Key]map[*keyWaiter]struct{}{}, map[*keyWaiter]int{}
	}
	if v.waiters[w.key] == nil {
		v.waiters[w.key] = map[*keyWaiter]struct{}{}
	}
	v.waiters[w.key][w] = struct{}{}
	v.changed[w] = askedAfterChange // its change may be earlier
	v.waiting.Add(1)
}

func (v *keyVersions) remove(w *keyWaiter) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, ok := v.waiters[w.key][w]; !ok {
		return
	}
	delete(v.changed, w)
	if delete(v.waiters[w.key], w); len(v.waiters[w.key]) == 0 {
		delete(v.waiters, w.key)
	}
	if v.waiting.Add(-1) == 0 {
		v.waiters, v.changed = nil, nil
		v.stopTimer()
	}
}

// stopTimer stops the timer. The caller holds mu.
func (v *keyVersions) stopTimer() {
	if v.timer != nil {
		v.timer.Stop()
		v.timer = nil
	}
}

// consume notes that reads reflect so many batches.
func (v *keyVersions) consume(batches uint64) {
	v.consumed.Store(batches)
	if v.waiting.Load() == 0 {
		return
	}
	for _, w := range v.asked(time.Now()) {
		goroutine.CallSafely(w.lookIfReady)
	}
}

// asked returns the waiters to check now.
func (v *keyVersions) asked(now time.Time) []*keyWaiter {
	v.mu.Lock()
	defer v.mu.Unlock()
	left := sweepEvery - now.Sub(v.swept)
	if int(v.waiting.Load()) <= fewWaiters || left <= 0 {
		v.swept = now
		v.stopTimer()
		clear(v.changed)
		return v.all()
	}
	if v.timer == nil {
		v.timer = time.AfterFunc(left, v.again)
	}
	some := make([]*keyWaiter, 0, len(v.changed))
	for w, times := range v.changed {
		some = append(some, w)
		if times == 1 {
			delete(v.changed, w)
		} else {
			v.changed[w] = times - 1
		}
	}
	return some
}

// all returns all waiters. The caller holds mu.
func (v *keyVersions) all() []*keyWaiter {
	all := make([]*keyWaiter, 0, v.waiting.Load())
	for _, waiters := range v.waiters {
		for w := range waiters {
			all = append(all, w)
		}
	}
	return all
}

// end calls all waiters.
func (v *keyVersions) end() {
	v.mu.Lock()
	v.stopTimer()
	all := v.all()
	v.mu.Unlock()
	for _, w := range all {
		goroutine.CallSafely(w.look)
	}
}

// noteChanged marks the waiters of changed objects.
func noteChanged[T index.Object](v *keyVersions, events []Event[T]) {
	if int(v.waiting.Load()) <= fewWaiters {
		return // all are checked anyway
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range events {
		for w := range v.waiters[events[i].Key()] {
			v.changed[w] = askedAfterChange
		}
	}
}
