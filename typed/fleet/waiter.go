package fleet

import (
	"sync"

	"github.com/kubetyped/informer/typed/source"
)

// waiter waits for reads to reflect something of a cluster, once.
type waiter struct {
	version string // "": any list
	reached func() // called without a lock, by the informer; must return soon
}

// due is the waiters for what was passed on, but may not be reflected by reads yet.
type due struct {
	wake chan struct{} // has room for one

	mu   sync.Mutex
	list []*waiter // guarded by mu
}

func (d *due) add(waiters []*waiter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, waiters...)
	select {
	case d.wake <- struct{}{}:
	default: // it has not looked since the last time
	}
}

func (d *due) take() []*waiter {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.list
	d.list = nil
	return list
}

// confirm has the informer tell when it has come to what is waited for: after all that was
// passed on before.
func (g *group[T]) confirm() {
	for {
		select {
		case <-g.due.wake:
		case <-g.ctx.Done():
			return
		}
		waiters := g.due.take()
		source.Confirm(g.sink, func() {
			for _, w := range waiters {
				w.reached()
			}
		})
	}
}

// pass notes that a version, "" for none, was passed on.
func (m *member[T]) pass(version string) {
	if reached := m.health.pass(version); len(reached) > 0 {
		m.due.add(reached)
	}
}

// await has w called when reads reflect what it waits for.
func (m *member[T]) await(w *waiter) {
	if m.health.await(w) {
		m.due.add([]*waiter{w})
	}
}

// await adds a waiter, unless what it waits for was passed on, of which it reports.
func (h *health) await(w *waiter) (passed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.has(w) {
		return true
	}
	h.waiters = append(h.waiters, w)
	return false
}

// forget forgets a waiter.
func (h *health) forget(w *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, other := range h.waiters {
		if other == w {
			h.waiters = append(h.waiters[:i], h.waiters[i+1:]...)
			return
		}
	}
}
