package tracing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/queue"
)

// maxAttempts is how often a key that fails is tried again in one trace.
const maxAttempts = 10

// Trace returns process with a span for each call to which an event that is traced has led,
// and another one for the time that the key has waited. The context of the call carries the
// span, for requests, see Transport, and for spans of the caller's own; its logger has the
// trace's ID as the value of "traceID". A key that fails, and is tried again, continues with
// the same events, ten times at most.
//
// Use it if you do not run the queue with Queue.Run, which calls it.
func (q *Queue[K]) Trace(process func(ctx context.Context, key K) error) func(ctx context.Context, key K) error {
	if q.tracer == nil || process == nil {
		return process
	}
	return func(ctx context.Context, key K) error {
		if q.causes.isEmpty() {
			return process(ctx, key)
		}
		now := time.Now()
		c, ok := q.causes.take(key, now)
		if !ok {
			return process(ctx, key)
		}
		return q.reconcile(ctx, key, c, now, process)
	}
}

// reconcile calls process for a key to which events have led.
func (q *Queue[K]) reconcile(ctx context.Context, key K, c causes, now time.Time, process func(ctx context.Context, key K) error) error {
	spanned := trace.ContextWithSpanContext(ctx, c.spans[0])
	attrs := []attribute.KeyValue{queueName.String(q.name), queueKey.String(fmt.Sprint(key))}
	waited := append(attrs[:len(attrs):len(attrs)], queuePriority.Int(c.priority))
	if c.delay > 0 {
		waited = append(waited, queueDelay.Float64(c.delay.Seconds()))
	}
	_, waiting := q.tracer.tracer.Start(spanned, "queue "+q.name, trace.WithTimestamp(c.since), trace.WithAttributes(waited...))
	waiting.End(trace.WithTimestamp(now))

	attrs = append(attrs, eventsLed.Int(len(c.spans)+c.leftOut), attempt.Int(c.attempt+1))
	if c.leftOut > 0 {
		attrs = append(attrs, eventsLeftOut.Int(c.leftOut))
	}
	links := make([]trace.Link, len(c.spans))
	for i, span := range c.spans {
		links[i] = trace.Link{SpanContext: span}
	}
	spanned, span := q.tracer.tracer.Start(spanned, "reconcile "+q.name, trace.WithTimestamp(now),
		trace.WithAttributes(attrs...), trace.WithLinks(links...))
	logger := klog.FromContext(ctx).WithValues("traceID", span.SpanContext().TraceID().String())
	err := errPanicked
	defer func() { q.settle(key, c, span, err) }()
	err = process(klog.NewContext(spanned, logger), key)
	return err
}

// errPanicked is the outcome of a call that does not return.
var errPanicked = errors.New("the function has panicked")

// settle ends the span of a call. If there is to be a next attempt, that continues with the
// trace.
func (q *Queue[K]) settle(key K, c causes, span trace.Span, err error) {
	defer span.End()
	if err == nil {
		return
	}
	if after, ok := queue.IsRequeue(err); ok {
		span.SetAttributes(requeueAfter.Float64(after.Seconds()))
		return
	}
	span.RecordError(err)
	span.SetStatus(codes.Error, err.Error())
	if !queue.IsTerminal(err) {
		q.again(key, c)
	}
}
