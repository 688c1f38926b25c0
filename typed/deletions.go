package typed

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/container"
	"github.com/kubetyped/informer/internal/goroutine"
)

// deletions calls the waiters for the deletion of an object when something has happened to the
// object. It costs the informer one look at a counter if there are no waiters, and one look at
// each event's key otherwise.
type deletions struct {
	waiting atomic.Int32 // the number of waiters
	mu      sync.Mutex
	waiters map[index.Key][]*deletionWaiter // guarded by mu
	most    int                             // guarded by mu; that waiters has held, for container.ShrinkMap
}

// deletionWaiter is called for every event of an object, until it is removed.
type deletionWaiter struct {
	key     index.Key
	changed func() // called by the informer without a lock; must return soon
}

// add has w called from now on.
func (d *deletions) add(w *deletionWaiter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiters == nil {
		d.waiters = map[index.Key][]*deletionWaiter{}
	}
	d.waiters[w.key] = append(d.waiters[w.key], w)
	d.waiting.Add(1)
}

// remove forgets w, if it is known. It may still be called if it is about to be.
func (d *deletions) remove(w *deletionWaiter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	waiters := d.waiters[w.key]
	i := slices.Index(waiters, w)
	if i < 0 {
		return
	}
	d.waiting.Add(-1)
	if len(waiters) == 1 {
		delete(d.waiters, w.key)
		d.waiters = container.ShrinkMap(d.waiters, &d.most)
	} else {
		d.waiters[w.key] = slices.Delete(waiters, i, i+1)
	}
}

// waitersFor returns the waiters to call after the store has made the changes that events
// report. Often there are none.
func waitersFor[T index.Object](d *deletions, events []Event[T]) []*deletionWaiter {
	if d.waiting.Load() == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var called []*deletionWaiter
	for i := range events {
		if events[i].Type != index.Added {
			called = append(called, d.waiters[events[i].Key()]...)
		}
	}
	return called
}

// all returns all waiters.
func (d *deletions) all() []*deletionWaiter {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []*deletionWaiter
	for _, waiters := range d.waiters {
		all = append(all, waiters...)
	}
	return all
}

// notify calls the waiters.
func notify(waiters []*deletionWaiter) {
	for _, w := range waiters {
		goroutine.CallSafely(w.changed)
	}
}
