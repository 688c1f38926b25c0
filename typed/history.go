package typed

import (
	"sync"
	"time"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/report"
)

// history keeps the last events of an informer. A nil history keeps none.
type history[T index.Object] struct {
	mu     sync.Mutex
	events []report.Event // guarded by mu; a ring
	next   int            // guarded by mu; where the next one goes
	full   bool           // guarded by mu
}

// newHistory returns a history of n events, nil if n is 0.
func newHistory[T index.Object](n int) *history[T] {
	if n == 0 {
		return nil
	}
	return &history[T]{events: make([]report.Event, n)}
}

// note keeps events, all of which were published at one time.
func (h *history[T]) note(events []Event[T], at time.Time) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	events = events[max(0, len(events)-len(h.events)):] // of many, the last are kept
	for i := range events {
		e := &events[i]
		h.events[h.next] = report.Event{Key: e.Key(), Type: e.Type, Reason: e.Reason, ResourceVersion: versionOf(e.New), At: at}
		if h.next++; h.next == len(h.events) {
			h.next, h.full = 0, true
		}
	}
}

// of returns the events of a key, the latest first.
func (h *history[T]) of(key index.Key) (events []report.Event) {
	if h == nil {
		return nil
	}
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
