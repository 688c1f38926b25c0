package tracing_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/adapters/tracing"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// TestUntracedCallsAllocateNothing: neither in the source nor in handlers.
func TestUntracedCallsAllocateNothing(t *testing.T) {
	tracer, _ := newTracer(t, tracing.WithSampling(1<<62))
	from := newFeed()
	src, events := tracing.Source(tracer, source.Source[*corev1.ConfigMap](from))
	h := tracing.Handler[*corev1.ConfigMap](events, typed.HandlerFuncs[*corev1.ConfigMap]{})
	done := make(chan error)
	go func() { done <- src.Run(t.Context(), nothing{}) }()
	t.Cleanup(func() { assert.NoError(t, <-done) })
	sink, obj := <-from.sink, newMap("a", "2")
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		sinktest.Put(sink, obj, "2")
		h.OnAdd(obj, false)
		h.OnUpdate(obj, obj)
	}))
}
