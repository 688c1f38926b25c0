package main

import (
	"context"
	"sync"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// ended is a span processor that signals when the first span of a name has ended: an informer
// that stops at the moment in which an event is stored may leave that span out.
type ended struct {
	name  string
	first chan struct{} // closed when it has
	once  sync.Once
}

// OnEnd implements sdktrace.SpanProcessor.
func (e *ended) OnEnd(span sdktrace.ReadOnlySpan) {
	if span.Name() == e.name {
		e.once.Do(func() { close(e.first) })
	}
}

// OnStart, Shutdown and ForceFlush have nothing to do.
func (e *ended) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (e *ended) Shutdown(context.Context) error                  { return nil }
func (e *ended) ForceFlush(context.Context) error                { return nil }
