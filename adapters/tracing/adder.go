package tracing

import (
	"sync/atomic"

	"github.com/kubetyped/informer/queue"
)

// tracedAdder is a control.Adder that knows what call the handler is in to which it was
// given.
type tracedAdder[K comparable] struct {
	queue *Queue[K]
	call  atomic.Pointer[call] // nil: none that is traced
}

// AddWithOptions implements control.Adder.
func (a *tracedAdder[K]) AddWithOptions(key K, o queue.AddOptions) {
	if c := a.call.Load(); c != nil {
		a.queue.note(key, c.span.SpanContext(), o)
	}
	a.queue.AddWithOptions(key, o)
}
