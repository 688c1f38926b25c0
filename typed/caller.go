package typed

import (
	"context"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
)

// caller calls a handler, and reports its panics.
type caller[T index.Object] struct {
	listener *listener[T]

	ctx      context.Context                      // of Run, for logging
	panicked []func(_ context.Context, value any) // called with a panic
}

// call calls the handler for an event, and returns true.
func (c *caller[T]) call(e *Event[T]) (next bool) {
	next = true // even after a panic
	defer utilruntime.HandleCrashWithContext(c.ctx, c.panicked...)
	dispatch(c.listener.handler, e)
	return
}

// callAll calls the handler for events, the first in any case, until it panics, is
// removed, or has something else to do. It returns for how many, and reports whether
// there was no panic. To be prepared for one costs as much as a short call, and so is
// done once for all of them.
func (c *caller[T]) callAll(events []Event[T]) (done int, returned bool) {
	defer utilruntime.HandleCrashWithContext(c.ctx, c.panicked...)
	for done < len(events) {
		e := &events[done]
		done++ // even if it panics
		dispatch(c.listener.handler, e)
		c.listener.handled()
		if c.listener.registration.stopped.Load() || c.listener.tasks.some.Load() {
			break
		}
	}
	return done, true
}

// InCallback reports whether it is called in a call of a handler of the informer, or by the
// goroutine that applies changes, as an index function is. What waits for the informer there
// may wait for itself.
func (i *Informer[T]) InCallback() bool {
	id := goroutine.ID()
	if i.looping.Load() == id {
		return true
	}
	for _, l := range i.listeners.all() {
		if l.registration.goroutine.Load() == id {
			return true
		}
	}
	return false
}
