package tracing

import (
	"cmp"
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// tracedSink is the Sink that traces what is reported to another one.
type tracedSink[T index.Object] struct {
	source.Forwarder[T]
	events *Events
}

// Change implements source.Sink.
func (s *tracedSink[T]) Change(c index.Change[T], version string) {
	r := s.receiveChange(&c, version)
	s.To.Change(c, version)
	if r != nil {
		r.passedOn()
		if r.span.SpanContext().IsSampled() {
			s.To.Step(nil, "", r.stored)
		}
	}
}

// Step implements source.Sink.
func (s *tracedSink[T]) Step(changes []index.Change[T], version string, done func()) {
	var received []*reception
	for i := range changes {
		if r := s.receiveChange(&changes[i], ""); r != nil {
			received = append(received, r)
		}
	}
	if len(received) == 0 {
		s.To.Step(changes, version, done)
		return
	}
	for _, r := range received {
		r.passedOn()
	}
	s.To.Step(changes, version, func() {
		for _, r := range received {
			r.stored()
		}
		if done != nil {
			done()
		}
	})
}

// receiveChange begins to trace a change, and returns nil if it is not to be traced. A removal
// of an object that still exists, but is outside of the watch now, is no event of the object.
func (s *tracedSink[T]) receiveChange(c *index.Change[T], version string) *reception {
	switch {
	case !c.Delete || c.Key == nil:
		return s.receive(c.Object, version, c.Delete)
	case (c.Reason == 0 || c.Reason == index.Watched) && s.events.tracer.samples(*c.Key, version):
		return s.events.receive(*c.Key, event{version: version, deleted: true, byKey: true})
	default:
		return nil
	}
}

// receive begins to trace an event, and returns nil if it is not to be traced.
func (s *tracedSink[T]) receive(obj T, resourceVersion string, deleted bool) *reception {
	var none T
	if index.Same(obj, none) {
		return nil // which the informer rejects
	}
	key, version := index.KeyOf(obj), cmp.Or(versionOf(obj), resourceVersion)
	if !s.events.tracer.samples(key, version) {
		return nil
	}
	r := s.events.receive(key, event{version: version, deleted: deleted})
	if r.span.IsRecording() {
		r.span.SetAttributes(lastWrite(obj, r.began)...)
	}
	return r
}

// reception is the way of an event from a source into the store.
type reception struct {
	events *Events
	ctx    context.Context // with span
	span   trace.Span      // "receive"
	began  time.Time
	passed time.Time // when it was passed on
}

// receive begins to trace an event.
func (e *Events) receive(key index.Key, event event) *reception {
	r, kind := &reception{events: e, began: time.Now()}, "Put"
	event.received = r.began
	if event.deleted {
		kind = "Delete"
	}
	r.ctx, r.span = e.tracer.tracer.Start(context.Background(), "receive "+e.kind,
		trace.WithTimestamp(r.began), trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(keyAttributes(e.kind, key, event.version)...), trace.WithAttributes(eventType.String(kind)))
	if event.span = r.span.SpanContext(); event.span.IsSampled() {
		e.add(key, event)
	}
	return r
}

// passedOn notes that the sink has taken it.
func (r *reception) passedOn() {
	r.passed = time.Now()
	r.span.End(trace.WithTimestamp(r.passed))
}

// stored notes that reads reflect it.
func (r *reception) stored() {
	_, span := r.events.tracer.tracer.Start(r.ctx, "store", trace.WithTimestamp(r.passed))
	span.End()
}
