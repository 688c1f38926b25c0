package fleet

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/monitor"
)

// waiter waits for reads to reflect something of a cluster.
type waiter struct {
	version string // "": any list
	stays   bool   // is called with each report from then on
	reached func() // called without a lock, by the informer, or when that or the cluster ends; must return soon
}

// due is the waiters whose version was passed on, but may not be reflected by reads yet.
type due struct {
	wake chan struct{} // has room for one

	mu   sync.Mutex
	list []*waiter               // guarded by mu
	sent map[*[]*waiter]struct{} // guarded by mu; those that the informer is asked about
}

func (d *due) add(waiters []*waiter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, waiters...)
	monitor.Wake(d.wake)
}

// send returns the waiters that the informer is to be asked about.
func (d *due) send() *[]*waiter {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.list
	d.list = nil
	if d.sent == nil {
		d.sent = map[*[]*waiter]struct{}{}
	}
	d.sent[&list] = struct{}{}
	return &list
}

// done calls waiters that were sent.
func (d *due) done(sent *[]*waiter) {
	d.mu.Lock()
	delete(d.sent, sent)
	d.mu.Unlock()
	for _, w := range *sent {
		goroutine.Call(context.Background(), w.reached)
	}
}

// end calls all that are left.
func (d *due) end() {
	d.send()
	d.mu.Lock()
	left := slices.Collect(maps.Keys(d.sent))
	d.mu.Unlock()
	for _, sent := range left {
		d.done(sent)
	}
}

// confirm asks the informer to report when reads reflect all that was passed on before, and
// calls the waiters then.
func (g *group[T]) confirm() {
	for {
		select {
		case <-g.due.wake:
		case <-g.ctx.Done():
			return
		}
		sent := g.due.send()
		goroutine.Call(g.ctx, func() { g.sink.Step(nil, "", func() { g.due.done(sent) }) })
	}
}

// pass notes that a version, "" for none, was passed on.
func (m *member[T]) pass(version string) {
	if reached := m.health.pass(version); len(reached) > 0 {
		m.due.add(reached)
	}
	m.sink.Step(nil, "", nil)
}

// await has w called when reads reflect what it waits for.
func (m *member[T]) await(w *waiter) {
	if m.health.await(w) {
		m.due.add([]*waiter{w})
	}
}

// await adds a waiter, and reports whether what it waits for was passed on.
func (h *health) await(w *waiter) (passed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	passed = h.has(w)
	if !passed || w.stays {
		h.waiters = append(h.waiters, w)
	}
	return passed
}

// dismiss takes out all waiters.
func (h *health) dismiss() []*waiter {
	h.mu.Lock()
	defer h.mu.Unlock()
	waiters := h.waiters
	h.waiters = nil
	return waiters
}

// forget forgets a waiter.
func (h *health) forget(w *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiters = slices.DeleteFunc(h.waiters, func(other *waiter) bool { return other == w })
}
