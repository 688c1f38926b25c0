package observe

import (
	"fmt"
	"sync"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/observer"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/report"
)

// WithHistory keeps the last events. Explain returns those of a key, to show what happened to
// an object. Each event takes 100 bytes and about 20 ns.
func WithHistory(events int) typed.Option { return typed.WithObserver(keepingEvents(events)) }

// keepingEvents keeps so many events.
type keepingEvents int

func (n keepingEvents) Observe(observer.Observed) (observer.Hooks, error) {
	if n < 1 {
		return observer.Hooks{}, fmt.Errorf("WithHistory: %d events cannot be kept", int(n))
	}
	h := &history{events: make([]report.Event, n)}
	return observer.Hooks{Published: h.note, Explain: func(key index.Key, k *report.Key) { k.Events = h.of(key) }}, nil
}

func (n keepingEvents) Option() string                    { return "WithHistory" }
func (n keepingEvents) Alone() bool                       { return false }
func (n keepingEvents) Same(other observer.Observer) bool { return n == other }
func (n keepingEvents) After(earlier observer.Observer) observer.Observer {
	return observer.Latest(n, earlier)
}

// history keeps the last events of an informer.
type history struct {
	mu     sync.Mutex
	events []report.Event // guarded by mu; a ring
	next   int            // guarded by mu; where the next one goes
	full   bool           // guarded by mu
}

// note keeps events, of many the last.
func (h *history) note(n int, event func(int) report.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := max(0, n-len(h.events)); i < n; i++ {
		h.events[h.next] = event(i)
		if h.next++; h.next == len(h.events) {
			h.next, h.full = 0, true
		}
	}
}

// of returns the events of a key, the latest first.
func (h *history) of(key index.Key) (events []report.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.next
	if h.full {
		n = len(h.events)
	}
	for i := range n {
		if e := &h.events[(h.next-1-i+len(h.events))%len(h.events)]; e.Key == key {
			events = append(events, *e)
		}
	}
	return events
}
