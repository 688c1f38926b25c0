package tracing

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/control"
)

// WorkQueue is what is needed of a queue, which *queue.WorkQueue has.
type WorkQueue[K comparable] interface {
	control.Adder[K]
	control.Queue[K]
}

// Queue is a queue of keys that continue with the traces of the events that led to them. It is
// a control.Queue, and a control.Adder for what belongs to no event. It is safe for concurrent
// use.
type Queue[K comparable] struct {
	WorkQueue[K]
	tracer *Tracer // may be nil
	name   string
	causes *bounded[K, causes]
}

// NewQueue returns q with traces, see Enqueue. Its name is an attribute of spans. It
// returns an error if q is nil. If t is nil, nothing is traced.
func NewQueue[K comparable](t *Tracer, name string, q WorkQueue[K]) (*Queue[K], error) {
	if own, ok := q.(*queue.WorkQueue[K]); q == nil || ok && own == nil {
		return nil, errors.New("tracing: queue is nil")
	}
	traced := &Queue[K]{WorkQueue: q, tracer: t, name: name}
	if t != nil {
		traced.causes = newBounded[K, causes](t)
	}
	return traced, nil
}

// Run is that of the queue, with process as Trace returns it.
func (q *Queue[K]) Run(ctx context.Context, workers int, process func(ctx context.Context, key K) error) error {
	return q.WorkQueue.Run(ctx, workers, q.Trace(process))
}

// maxLinks is how many events of a key are linked. More are counted.
const maxLinks = 16

// causes are what has led to a key.
type causes struct {
	since    time.Time // the key waits
	spans    []trace.SpanContext
	leftOut  int
	attempt  int // failures before
	priority int
	delay    time.Duration
}

// note notes that an event leads to a key, which is about to be added.
func (q *Queue[K]) note(key K, span trace.SpanContext, o queue.AddOptions) {
	if q.tracer == nil || !span.IsSampled() {
		return
	}
	now := time.Now()
	q.causes.change(key, now, func(c causes) (causes, bool) {
		if len(c.spans) == 0 {
			c = causes{since: now, priority: o.Priority, delay: o.After}
		}
		c.priority = max(c.priority, o.Priority)
		return c.join(span), true
	})
}

// join adds an event.
func (c causes) join(spans ...trace.SpanContext) causes {
	room := min(maxLinks-len(c.spans), len(spans))
	c.spans = append(c.spans, spans[:room]...)
	c.leftOut += len(spans) - room
	return c
}

// again notes that a key has failed, and waits for another attempt.
func (q *Queue[K]) again(key K, failed causes) {
	failed.attempt++
	if failed.attempt >= maxAttempts {
		return
	}
	now := time.Now()
	failed.since, failed.delay = now, 0
	q.causes.change(key, now, func(newer causes) (causes, bool) {
		all := failed.join(newer.spans...)
		if len(newer.spans) > 0 {
			all.priority = max(all.priority, newer.priority)
		}
		all.leftOut += newer.leftOut
		return all, true
	})
}

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
