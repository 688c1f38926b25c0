package benchmarks

import (
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/observe"
)

// BenchmarkMetrics measures what metrics cost: informers do what they do in
// BenchmarkEventPipeline, without metrics and with them. Those of informers of client-go's
// shape come from a provider.
func BenchmarkMetrics(b *testing.B) {
	c := cluster.New(10_000, 100)
	list := cluster.ListOf(c.Pods(1), "1")
	events := c.Updates(2 * c.Size)
	for _, handlers := range []int{1, 4} {
		for _, impl := range []struct {
			name string
			make func(tb testing.TB, from cache.ListerWatcher, measured bool) informer
		}{
			{"typed", newTypedMeasured},
			{"drop-in", sharedMeasured(adapters.NewSharedIndexInformerWithOptions)},
			{"client-go", sharedMeasured(cache.NewSharedIndexInformerWithOptions)},
		} {
			for _, metrics := range []string{"off", "on"} {
				s := side{impl.name, func(tb testing.TB, from cache.ListerWatcher, _ bool) informer {
					return impl.make(tb, from, metrics == "on")
				}}
				b.Run(fmt.Sprintf("handlers=%d/metrics=%s/impl=%s", handlers, metrics, impl.name), func(b *testing.B) {
					benchmarkEvents(b, s, list, events, handlers)
				})
			}
		}
	}
}

func newTypedMeasured(tb testing.TB, from cache.ListerWatcher, measured bool) informer {
	var opts []typed.Option
	if measured {
		opts = append(opts, observe.WithMetrics(&measurements{}))
	}
	i := typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](from), opts...)
	require.NoError(tb, i.AddIndexes(indexByNode(), indexByApp()))
	return &typedInformer{Informer: i, pods: lister.New(i)}
}

// sharedMeasured returns what makes an informer by either package's
// NewSharedIndexInformerWithOptions.
func sharedMeasured[I cache.SharedIndexInformer, E any](make func(cache.ListerWatcher, E, cache.SharedIndexInformerOptions) I) func(testing.TB, cache.ListerWatcher, bool) informer {
	return func(tb testing.TB, from cache.ListerWatcher, measured bool) informer {
		options := cache.SharedIndexInformerOptions{Indexers: twoIndexers()}
		if measured {
			name, err := cache.NewInformerName(tb.Name())
			require.NoError(tb, err)
			tb.Cleanup(name.Release)
			options.Identifier = name.WithResource(schema.GroupVersionResource{Version: "v1", Resource: "pods"})
			options.InformerMetricsProvider = &measurements{}
		}
		example, _ := any(&corev1.Pod{}).(E)
		return newShared(make(from, example, options))
	}
}

// measurements are metrics of an informer, as a client of Prometheus has them: gauges, and
// a histogram of a few buckets.
type measurements struct {
	queued, version gauge
	latency         histogram
}

// SetQueued implements observe.Metrics.
func (m *measurements) SetQueued(changes int) { m.queued.Set(float64(changes)) }

// Process implements observe.Metrics.
func (m *measurements) Process(_ int, process func()) {
	began := time.Now()
	process()
	m.latency.Observe(time.Since(began).Seconds())
}

// SetResourceVersion implements observe.Metrics.
func (m *measurements) SetResourceVersion(version string) { m.version.Set(float64(len(version))) }

// NewQueuedItemMetric implements cache.InformerMetricsProvider.
func (m *measurements) NewQueuedItemMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return &m.queued
}

// NewProcessingLatencyMetric implements cache.InformerMetricsProvider.
func (m *measurements) NewProcessingLatencyMetric(cache.InformerNameAndResource) cache.HistogramMetric {
	return &m.latency
}

// NewStoreResourceVersionMetric implements cache.InformerMetricsProvider.
func (m *measurements) NewStoreResourceVersionMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return &m.version
}

type gauge struct{ bits atomic.Uint64 }

func (g *gauge) Set(value float64) { g.bits.Store(math.Float64bits(value)) }

type histogram struct {
	buckets [12]atomic.Uint64
	micros  atomic.Int64
}

func (h *histogram) Observe(seconds float64) {
	at, limit := 0, 1e-6
	for at < len(h.buckets)-1 && seconds > limit {
		at, limit = at+1, limit*4
	}
	h.buckets[at].Add(1)
	h.micros.Add(int64(seconds * 1e6))
}
