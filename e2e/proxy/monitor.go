package proxy

import (
	"context"
	"fmt"
	"sync"
)

// monitor guards the state of a proxy, and wakes the goroutines that wait for a change.
type monitor struct {
	mu      sync.Mutex
	changed chan struct{} // guarded by mu; closed and replaced by change
}

func newMonitor() *monitor { return &monitor{changed: make(chan struct{})} }

// change calls f with mu held, and wakes the waiting goroutines.
func (m *monitor) change(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
	close(m.changed)
	m.changed = make(chan struct{})
}

// look calls f with mu held, and returns what is closed at the next change.
func (m *monitor) look(f func()) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
	return m.changed
}

// wait waits until condition, which is called with mu held, returns true. It
// returns false if done is closed before.
func (m *monitor) wait(condition func() bool, done <-chan struct{}) bool {
	for {
		var met bool
		changed := m.look(func() { met = condition() })
		if met {
			return true
		}
		select {
		case <-changed:
		case <-done:
			return false
		}
	}
}

// WaitFor waits until condition returns true. It asks at once, and whenever a
// number may have changed that a method of the proxy or of an Injection returns,
// from the goroutine that called it. It returns the error of ctx, and what the
// proxy has seen, if that ends before.
func (p *Proxy) WaitFor(ctx context.Context, condition func() bool) error {
	for {
		changed := p.look(func() {})
		if condition() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for what passes the proxy (so far %d requests, %d answers, %d cuts; open: %d watches, %d connections): %w",
				p.Requests("", ""), p.Responses("", "", 0), p.Cuts(""), p.Watches(""), p.Connections(), ctx.Err())
		}
	}
}
