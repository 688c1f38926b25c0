package tracing_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/trace"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/adapters/tracing"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/source"
)

// BenchmarkEvents measures what an event costs on its way from a source to a call that
// reconciles its key: without tracing, with a Tracer that traces nothing, with one that
// traces one in a hundred, and with one that traces all.
func BenchmarkEvents(b *testing.B) {
	sampled := func(opts ...tracing.Option) func() *tracing.Tracer {
		return func() *tracing.Tracer {
			tracer, err := tracing.New(append(opts, tracing.WithTracerProvider(trace.NewTracerProvider()))...)
			require.NoError(b, err)
			return tracer
		}
	}
	for _, bench := range []struct {
		name   string
		tracer func() *tracing.Tracer
	}{
		{"off", func() *tracing.Tracer { return nil }},
		{"none", sampled(tracing.WithSampling(1<<62), tracing.WithRate(0))},
		{"default", sampled()},
		{"1in100", sampled(tracing.WithSampling(100), tracing.WithRate(0))},
		{"all", sampled(tracing.WithRate(0))},
	} {
		b.Run(bench.name, func(b *testing.B) { benchmarkEvents(b, bench.tracer()) })
	}
}

func benchmarkEvents(b *testing.B, tracer *tracing.Tracer) {
	from := newFeed()
	src, events := tracing.Source(tracer, source.Source[*corev1.ConfigMap](from))
	maps := typed.NewInformer(src)
	q, err := queue.NewWorkQueue[index.Key]()
	require.NoError(b, err)
	keys, err := tracing.NewQueue(tracer, "maps", q)
	require.NoError(b, err)
	_, err = maps.Handle(tracing.Enqueue(events, keys, func(q control.Adder[index.Key]) typed.Handler[*corev1.ConfigMap] {
		return control.Enqueue[*corev1.ConfigMap](q)
	}), typed.WithDelivery(typed.Block(1000)))
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	seen := make(chan struct{}, 1)
	go func() {
		done <- control.Run(ctx, control.WithInformers(maps), control.WithWorkers(keys, 1, func(_ context.Context, key index.Key) error {
			if key.Name == "last" {
				seen <- struct{}{}
			}
			return nil
		}))
	}()
	sink := <-from.sink
	sinktest.Replace(sink, "", nil, "1")
	objs := make([]*corev1.ConfigMap, 1000)
	for i := range objs {
		objs[i] = newMap(fmt.Sprintf("web-%d", i%100), fmt.Sprint(i+2))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		obj := objs[i%len(objs)]
		sinktest.Put(sink, obj, obj.ResourceVersion)
		i++
	}
	sinktest.Put(sink, newMap("last", "100000"), "100000")
	<-seen
	b.StopTimer()
	cancel()
	require.NoError(b, <-done)
}

// BenchmarkSource measures the decision alone: what a source costs more.
func BenchmarkSource(b *testing.B) {
	for name, opts := range map[string][]tracing.Option{
		"none":    {tracing.WithSampling(1 << 62)},
		"limited": {tracing.WithRate(1)},
	} {
		b.Run(name, func(b *testing.B) {
			tracer, err := tracing.New(opts...)
			require.NoError(b, err)
			from := newFeed()
			src, _ := tracing.Source(tracer, source.Source[*corev1.ConfigMap](from))
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			go func() { _ = src.Run(ctx, nothing{}) }()
			sink, obj := <-from.sink, newMap("web-1", "100000")
			sinktest.Put(sink, obj, "100000") // of which one may be traced
			time.Sleep(time.Millisecond)
			b.ReportAllocs()
			for b.Loop() {
				sinktest.Put(sink, obj, "100000")
			}
		})
	}
}

// nothing is a Sink that ignores its changes.
type nothing struct{ source.Sink[*corev1.ConfigMap] }

func (nothing) Change(index.Change[*corev1.ConfigMap], string) {}
