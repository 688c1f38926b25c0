package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// tracedSink is the Sink that traces what is reported to another one.
type tracedSink[T index.Object] struct {
	source.Sink[T]
	events *Events
}

// Put implements source.Sink.
func (s *tracedSink[T]) Put(obj T, resourceVersion string) {
	r := s.receive(obj, resourceVersion, false)
	s.Sink.Put(obj, resourceVersion)
	r.passedOn()
	confirm(s.Sink, r)
}

// Delete implements source.Sink.
func (s *tracedSink[T]) Delete(obj T, resourceVersion string) {
	r := s.receive(obj, resourceVersion, true)
	s.Sink.Delete(obj, resourceVersion)
	r.passedOn()
	confirm(s.Sink, r)
}

// Remove implements source.Sink.
func (s *tracedSink[T]) Remove(key index.Key, reason index.Reason, resourceVersion string) {
	var r *reception
	if reason == index.Watched && s.events.tracer.samplesKey(key, resourceVersion) {
		r = s.events.receive(key, resourceVersion, true)
	}
	s.Sink.Remove(key, reason, resourceVersion)
	r.passedOn()
	confirm(s.Sink, r)
}

// Step implements source.Stepper.
func (s *tracedSink[T]) Step(changes []source.Change[T], resourceVersion string, done func()) {
	var received []*reception
	for _, c := range changes {
		if r := s.receive(c.Object, "", c.Deleted); r != nil {
			received = append(received, r)
		}
	}
	if len(received) == 0 {
		source.Step(s.Sink, changes, resourceVersion, done)
		return
	}
	for _, r := range received {
		r.passedOn()
	}
	source.Step(s.Sink, changes, resourceVersion, func() {
		for _, r := range received {
			r.stored()
		}
		if done != nil {
			done()
		}
	})
}

// Share implements source.Sharer.
func (s *tracedSink[T]) Share() func(index.Key) (T, bool) { return source.ShareOf(s.Sink) }

// Meter implements source.Metered.
func (s *tracedSink[T]) Meter() *source.Meter { return source.MeterOf(s.Sink) }

// receive begins to trace an event, and returns nil if it is not to be traced.
func (s *tracedSink[T]) receive(obj T, resourceVersion string, deleted bool) *reception {
	var none T
	if obj == none {
		return nil // which the informer rejects
	}
	version := versionOf(obj, resourceVersion)
	if !s.events.tracer.samples(obj.GetNamespace(), obj.GetName(), version) {
		return nil
	}
	r := s.events.receive(index.KeyOf(obj), version, deleted)
	if r.span.IsRecording() {
		r.span.SetAttributes(lastWrite(obj, r.began)...)
	}
	return r
}

// reception is the way of an event from a source into the store. A nil one is not traced.
type reception struct {
	events *Events
	ctx    context.Context // with span
	span   trace.Span      // "receive"
	began  time.Time
	passed time.Time // when it was passed on
}

// receive begins to trace an event.
func (e *Events) receive(key index.Key, version string, deleted bool) *reception {
	r := &reception{events: e, began: time.Now()}
	event, kind := event{version: version, deleted: deleted, received: r.began}, "Put"
	if deleted {
		kind = "Delete"
	}
	r.ctx, r.span = e.tracer.tracer.Start(context.Background(), "receive "+e.kind,
		trace.WithTimestamp(r.began), trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(keyAttributes(e.kind, key, version)...), trace.WithAttributes(eventType.String(kind)))
	if event.span = r.span.SpanContext(); event.span.IsSampled() {
		e.add(key, event)
	}
	return r
}

// passedOn notes that the sink has taken it.
func (r *reception) passedOn() {
	if r != nil {
		r.passed = time.Now()
		r.span.End(trace.WithTimestamp(r.passed))
	}
}

// confirm has the event's way end when reads reflect it.
func confirm[T index.Object](sink source.Sink[T], r *reception) {
	if r != nil && r.span.SpanContext().IsSampled() {
		source.Confirm(sink, r.stored)
	}
}

// stored notes that reads reflect it.
func (r *reception) stored() {
	_, span := r.events.tracer.tracer.Start(r.ctx, "store", trace.WithTimestamp(r.passed))
	span.End()
}
