package metrics_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/adapters/metrics"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/observe"
)

// BenchmarkQueue measures the cost of adding, getting and finishing a key, with and without
// metrics, and of client-go's queue with the same metrics.
func BenchmarkQueue(b *testing.B) {
	_, m := newMetrics(b)
	ours := func(b *testing.B, opts ...queue.Option) workqueue.TypedInterface[int] {
		q, err := queue.NewWorkQueue[int](append(opts, queue.WithName("ours"))...)
		require.NoError(b, err)
		return q
	}
	for _, impl := range []struct {
		name string
		make func(b *testing.B) workqueue.TypedInterface[int]
	}{
		{"off", func(b *testing.B) workqueue.TypedInterface[int] { return ours(b) }},
		{"on", func(b *testing.B) workqueue.TypedInterface[int] { return ours(b, queue.WithMetrics(m)) }},
		{"client-go", func(*testing.B) workqueue.TypedInterface[int] {
			return workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[int]{Name: "theirs", MetricsProvider: m})
		}},
	} {
		b.Run(impl.name, func(b *testing.B) {
			q := impl.make(b)
			defer q.ShutDown()
			b.ReportAllocs()
			for b.Loop() {
				q.Add(1)
				key, _ := q.Get()
				q.Done(key)
			}
		})
	}
}

// BenchmarkScrape50 measures what it takes to collect the metrics of 50 informers of as
// many kinds, with 1,000 objects and three handlers each, and of ten queues.
func BenchmarkScrape50(b *testing.B) {
	for name, opts := range map[string][]metrics.Option{
		"kinds": nil,
		"names": {metrics.WithInformerNames(), metrics.WithHandlerNames()},
	} {
		b.Run(name, func(b *testing.B) {
			r := prometheus.NewRegistry()
			m, err := metrics.New(r, opts...)
			require.NoError(b, err)
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error)
			const informers = 50
			for i := range informers {
				src := newScripted("apps", fmt.Sprint("Kind", i))
				informer := typed.NewInformer[*corev1.ConfigMap](src, observe.WithCallTimes())
				for h := range 3 {
					_, err := informer.Handle(typed.HandlerFuncs[*corev1.ConfigMap]{AddFunc: func(*corev1.ConfigMap, bool) {}}, typed.WithHandlerName(fmt.Sprint("handler-", h)))
					require.NoError(b, err)
				}
				go func() { ended <- informer.Run(ctx) }()
				sink := <-src.sinks
				sinktest.Replace(sink, "", configMaps(1000), "1000")
				require.NoError(b, informer.WaitForSync(ctx))
				require.NoError(b, m.Add(metrics.WithInformers(informer)))
			}
			for i := range 10 {
				q, err := queue.NewWorkQueue[string](queue.WithName(fmt.Sprint("queue-", i)), queue.WithMetrics(m))
				require.NoError(b, err)
				q.Add("a")
				defer q.ShutDown()
				require.NoError(b, m.Add(metrics.WithQueues(q)))
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Gather(); err != nil {
					b.Fatal(err)
				}
			}
			cancel()
			for range informers {
				require.NoError(b, <-ended)
			}
		})
	}
}
