package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// tree is an exporter that prints all spans, each below the one that it is a part of, when
// it is shut down.
type tree struct {
	out io.Writer

	mu    sync.Mutex
	spans []sdktrace.ReadOnlySpan // guarded by mu
}

// ExportSpans implements sdktrace.SpanExporter.
func (t *tree) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spans = append(t.spans, spans...)
	return nil
}

// Shutdown implements sdktrace.SpanExporter.
func (t *tree) Shutdown(context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.SortFunc(t.spans, func(a, b sdktrace.ReadOnlySpan) int {
		return cmp.Or(a.StartTime().Compare(b.StartTime()), a.EndTime().Compare(b.EndTime()))
	})
	for _, s := range t.spans {
		if !s.Parent().IsValid() {
			t.print(s, s.StartTime(), 0)
		}
	}
	return nil
}

// print prints a span, and those that are a part of it, with the time since a beginning.
func (t *tree) print(s sdktrace.ReadOnlySpan, began time.Time, depth int) {
	fmt.Fprintf(t.out, "%8s %8s  %s%s", inMillis(s.StartTime().Sub(began)), inMillis(s.EndTime().Sub(s.StartTime())), strings.Repeat("  ", depth), s.Name())
	for _, a := range s.Attributes() {
		switch a.Key {
		case "k8s.object.name", "k8s.object.resource_version", "k8s.server.manager", "kubetyped.key", "kubetyped.handler", "http.response.status_code":
			key := string(a.Key)
			fmt.Fprintf(t.out, " %s=%v", key[strings.LastIndexByte(key, '.')+1:], a.Value.AsInterface())
		}
	}
	if n := len(s.Links()); n > 0 {
		fmt.Fprintf(t.out, " links=%d", n)
	}
	if s.Status().Code == codes.Error {
		fmt.Fprintf(t.out, " error=%q", s.Status().Description)
	}
	fmt.Fprintln(t.out)
	for _, child := range t.spans {
		if child.Parent().IsValid() && child.Parent().SpanID() == s.SpanContext().SpanID() {
			t.print(child, began, depth+1)
		}
	}
}

// inMillis returns a time in milliseconds.
func inMillis(d time.Duration) string {
	return fmt.Sprintf("%.2fms", float64(d)/float64(time.Millisecond))
}
