package tracing

import (
	"context"
	"errors"
	"sync/atomic"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
)

// Handler returns h with a span for each call that reports an event which is traced. If events
// is nil, it returns h.
//
// The handler is for one informer, whose source is that of events. Informer.Handle
// returns an error if h cannot be used.
func Handler[T index.Object](events *Events, h typed.Handler[T]) typed.Handler[T] {
	if events == nil {
		return h
	}
	return newHandler(events, h, nil, nil)
}

// Enqueue returns a handler that make makes for an Adder, which puts keys into q. The keys
// that the handler adds while it is called for an event that is traced continue with its
// trace; those that it adds by another goroutine at that time, too, and later ones do not.
//
//	maps.Handle(tracing.Enqueue(events, keys, func(q control.Adder[index.Key]) typed.Handler[*corev1.ConfigMap] {
//		return control.Enqueue[*corev1.ConfigMap](q)
//	}))
//
// The handler is for one informer, whose source is that of events. Several handlers may
// have one queue. If events is nil, Enqueue returns what make makes of q. Informer.Handle
// returns an error if q or make is nil, or what make returns cannot be used.
func Enqueue[T index.Object, K comparable](events *Events, q *Queue[K], make func(q control.Adder[K]) typed.Handler[T]) typed.Handler[T] {
	switch {
	case make == nil:
		return newHandler[T](events, nil, nil, errors.New("handler function is nil"))
	case q == nil:
		return newHandler[T](events, nil, nil, errors.New("queue is nil"))
	case events == nil:
		return make(q)
	}
	adder := &tracedAdder[K]{queue: q}
	return newHandler(events, make(adder), &adder.call, nil)
}

// handler is a Handler whose calls are traced.
type handler[T index.Object] struct {
	listener
	events  *Events
	handler typed.Handler[T]
	name    string
	call    *atomic.Pointer[call] // that it is in; nil: not recorded
	err     error
}

func newHandler[T index.Object](events *Events, h typed.Handler[T], in *atomic.Pointer[call], err error) *handler[T] {
	name, unusable := typed.Describe(h)
	if err == nil {
		err = unusable
	}
	if err == nil {
		events.handlers.Add(1)
	}
	return &handler[T]{events: events, handler: h, name: name, call: in, err: err}
}

// Needs says what typed.Informer.Handle has to know, see typed.Needs.
func (h *handler[T]) Needs() []string { return typed.Needs(h.handler) }

// Describe implements typed.Describer.
func (h *handler[T]) Describe() (string, error) { return h.name, h.err }

// OnAdd implements typed.Handler.
func (h *handler[T]) OnAdd(obj T, initial bool) {
	if initial || h.events.underway.isEmpty() {
		h.handler.OnAdd(obj, initial)
		return
	}
	c := h.begin(index.Added, index.KeyOf(obj), versionOf(obj))
	defer c.end()
	h.handler.OnAdd(obj, initial)
	c.returned()
}

// OnUpdate implements typed.Handler.
func (h *handler[T]) OnUpdate(old, updated T) {
	if index.Same(old, updated) || h.events.underway.isEmpty() {
		h.handler.OnUpdate(old, updated)
		return
	}
	c := h.begin(index.Updated, index.KeyOf(updated), versionOf(updated))
	defer c.end()
	h.handler.OnUpdate(old, updated)
	c.returned()
}

// OnDelete implements typed.Handler.
func (h *handler[T]) OnDelete(deleted typed.Deleted[T]) {
	if h.events.underway.isEmpty() {
		h.handler.OnDelete(deleted)
		return
	}
	c := h.begin(index.Deleted, deleted.Key, versionOf(deleted.Object))
	defer c.end()
	h.handler.OnDelete(deleted)
	c.returned()
}

// begin begins the span of a call, and returns nil if no event of the object is traced.
func (h *handler[T]) begin(kind index.EventType, key index.Key, version string) *call {
	taken := h.events.take(&h.listener, key, version, kind == index.Deleted)
	if len(taken) == 0 {
		return nil
	}
	first := trace.ContextWithSpanContext(context.Background(), taken[0].span)
	links := make([]trace.Link, 0, len(taken)-1)
	for _, x := range taken[1:] {
		links = append(links, trace.Link{SpanContext: x.span})
	}
	_, span := h.events.tracer.tracer.Start(first, "handle "+h.events.kind, trace.WithLinks(links...),
		trace.WithAttributes(keyAttributes(h.events.kind, key, version)...),
		trace.WithAttributes(handlerIs.String(h.name), eventType.String(kind.String())))
	c := &call{span: span, in: h.call}
	if c.in != nil {
		c.in.Store(c)
	}
	return c
}

// call is a call of a handler for an event that is traced. A nil one is for another event.
type call struct {
	span trace.Span // "handle"
	in   *atomic.Pointer[call]
	done bool // the handler has returned, and not panicked
}

// returned notes that the handler has returned.
func (c *call) returned() {
	if c != nil {
		c.done = true
	}
}

// end ends the span.
func (c *call) end() {
	if c == nil {
		return
	}
	if c.in != nil {
		c.in.Store(nil)
	}
	if !c.done {
		c.span.SetStatus(codes.Error, "the handler has panicked")
	}
	c.span.End()
}
