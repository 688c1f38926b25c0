package conformance

import (
	"context"
	"slices"
	"sync"

	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// tape records the events that an informer delivers to a handler, or to an event stream. It is a
// typed.Handler.
type tape[T object] struct {
	name    string
	history *history.History[T]

	mu     sync.Mutex
	events []typed.Event[T] // guarded by mu
	more   chan struct{}    // guarded by mu; closed when there is another event
}

func newTape[T object](name string) *tape[T] {
	return &tape[T]{name: name, history: history.New[T](), more: make(chan struct{})}
}

// OnAdd implements typed.Handler.
func (t *tape[T]) OnAdd(obj T, initial bool) {
	t.history.OnAdd(obj, initial)
	reason := index.Watched
	if initial {
		reason = index.Initial
	}
	t.note(typed.Event[T]{Type: index.Added, Reason: reason, New: obj})
}

// OnUpdate implements typed.Handler.
func (t *tape[T]) OnUpdate(old, updated T) {
	t.history.OnUpdate(old, updated)
	t.note(typed.Event[T]{Type: index.Updated, Old: old, New: updated})
}

// OnDelete implements typed.Handler.
func (t *tape[T]) OnDelete(d typed.Deleted[T]) {
	t.history.OnDelete(d)
	t.note(typed.Event[T]{Type: index.Deleted, Reason: d.Reason, New: d.Object})
}

// record takes an event of a stream.
func (t *tape[T]) record(e typed.Event[T]) {
	t.history.Record(e)
	t.note(e)
}

func (t *tape[T]) note(e typed.Event[T]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, e)
	close(t.more)
	t.more = make(chan struct{})
}

// wait waits until the events are as wanted, or ctx ends, and returns those that
// there are, and whether they are as wanted.
func (t *tape[T]) wait(ctx context.Context, wanted func([]typed.Event[T]) bool) ([]typed.Event[T], bool) {
	for {
		t.mu.Lock()
		events, more := slices.Clip(t.events), t.more
		t.mu.Unlock()
		if wanted(events) {
			return events, true
		}
		select {
		case <-more:
		case <-ctx.Done():
			return events, false
		}
	}
}

// all returns the events so far.
func (t *tape[T]) all() []typed.Event[T] {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clip(t.events)
}
