package typed

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/timing"
)

// EventStream is what an informer's Events returns:
//
//	events := pods.Events(ctx)
//	for e := range events.All() {
//		…
//	}
//	if err := events.Err(); err != nil {
//		return err
//	}
//
// Its methods are safe for concurrent use.
type EventStream[T index.Object] struct {
	// visit passes every event to yield, and returns why it has ended, nil if yield
	// has returned false.
	visit func(yield func(Event[T]) bool) error

	mu  sync.Mutex
	err error // guarded by mu
}

// All ranges over the events that a handler would get, on the goroutine of the loop. The range
// ends when the loop is left, the context ends, or the informer does. Each range begins again,
// with the objects that are there.
func (s *EventStream[T]) All() iter.Seq[Event[T]] {
	return func(yield func(Event[T]) bool) {
		err := s.visit(yield)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = err
	}
}

// Err reports why the last range has ended: nil if the loop was left, or there was no range
// yet. Otherwise the error wraps the cause of the context's end (see context.Cause),
// ErrStopped with the error of the source, or index.ErrReleased, or it names an invalid
// option. The first two also wrap the current list or watch error, or ErrNotStarted.
func (s *EventStream[T]) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Events returns the events of the informer as an event stream, whose Err returns why it
// ended. A stream of a SharedInformer also ends with its release. Events takes the options of a
// handler, and does nothing until the stream is ranged over.
func (a *access[T]) Events(ctx context.Context, opts ...HandlerOption) *EventStream[T] {
	return &EventStream[T]{visit: func(yield func(Event[T]) bool) error {
		i, ctx, stop := a.within(ctx)
		defer stop()
		return i.visit(ctx, opts, yield)
	}}
}

// visit passes the events to yield, see EventStream.
func (i *Informer[T]) visit(ctx context.Context, opts []HandlerOption, yield func(Event[T]) bool) error {
	l, err := i.newListener(nil, "events", opts)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return i.eventsEnd(ctx)
	}
	if err := i.add(l); err != nil {
		if i.isStopped() {
			err = i.eventsEnd(ctx) // with the cause
		}
		return err
	}
	defer l.registration.Close()
	defer context.AfterFunc(ctx, l.registration.end)() // wakes it
	l.random = timing.RandomFrom(ctx)
	left := false
	l.run(func(e *Event[T]) bool {
		if ctx.Err() != nil {
			return false
		}
		left = !yield(*e)
		return !left
	}, nil)
	if left {
		return nil
	}
	return i.eventsEnd(ctx)
}

// eventsEnd returns the reason why there are no more events.
func (i *Informer[T]) eventsEnd(ctx context.Context) error {
	return i.withFailure(fmt.Errorf("informer %s: event stream ended: %w", i.name, i.endOf(ctx)))
}
