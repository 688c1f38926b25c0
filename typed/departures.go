package typed

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kubetyped/informer/index"
)

// departures tells those who wait for an object to go when something has
// happened to it. What it costs the informer is one look at a counter if nobody
// waits, and a look at each event's key otherwise.
type departures struct {
	waiting atomic.Int32 // the number of waiters
	mu      sync.Mutex
	waiters map[index.Key][]*departureWaiter // guarded by mu
}

// departureWaiter is called for every event of an object, until it is removed.
type departureWaiter struct {
	key     index.Key
	changed func() // called by the informer without a lock; must return soon
}

// add has w called from now on.
func (d *departures) add(w *departureWaiter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiters == nil {
		d.waiters = map[index.Key][]*departureWaiter{}
	}
	d.waiters[w.key] = append(d.waiters[w.key], w)
	d.waiting.Add(1)
}

// remove forgets w, if it is known. It may still be called if it is about to be.
func (d *departures) remove(w *departureWaiter) {
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
	} else {
		d.waiters[w.key] = slices.Delete(waiters, i, i+1)
	}
}

// concerned returns who is to be called after events that tell what the store
// has changed. Often that is nobody.
func concerned[T index.Object](d *departures, events []Event[T]) []*departureWaiter {
	if d.waiting.Load() == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var called []*departureWaiter
	for i := range events {
		if events[i].Type != index.Added {
			called = append(called, d.waiters[events[i].Key()]...)
		}
	}
	return called
}

// all returns everybody who waits.
func (d *departures) all() []*departureWaiter {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []*departureWaiter
	for _, waiters := range d.waiters {
		all = append(all, waiters...)
	}
	return all
}

// notify calls the waiters.
func notify(waiters []*departureWaiter) {
	for _, w := range waiters {
		w.changed()
	}
}
