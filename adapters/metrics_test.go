package adapters

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// values is a provider whose metrics record their latest values.
type values struct{ queued, latency, version float64 }

type value struct{ at *float64 }

func (v value) Set(x float64)     { *v.at = x }
func (v value) Observe(x float64) { *v.at = x }

func (v *values) NewQueuedItemMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return value{&v.queued}
}

func (v *values) NewProcessingLatencyMetric(cache.InformerNameAndResource) cache.HistogramMetric {
	return value{&v.latency}
}

func (v *values) NewStoreResourceVersionMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return value{&v.version}
}

// TestMetricsAfterRejections: rejected objects can make an informer process more or fewer items
// than were queued.
func TestMetricsAfterRejections(t *testing.T) {
	name, err := cache.NewInformerName("rejections")
	require.NoError(t, err)
	t.Cleanup(name.Release)
	received := &values{}
	m := newMetrics(name.WithResource(schema.GroupVersionResource{Resource: "pods"}), received)
	m.start()
	m.add(queueList)
	m.add(queueChange)
	m.add(queueChange)
	assert.Equal(t, 3.0, received.queued)
	processed := 0
	m.Process(1, func() { processed++ })
	assert.Equal(t, 2.0, received.queued)
	m.SetQueued(0)
	assert.Zero(t, received.queued, "the informer has none")
	m.add(queueChange)
	m.Process(4, func() { processed++ })
	assert.Zero(t, received.queued)
	m.SetQueued(0)
	m.Process(1, func() { processed++ })
	assert.Equal(t, 2, processed, "the informer does what is not measured")
}

// TestMetricsWhileItemsCome: the informer may know of more changes than are in the
// queue of the metrics yet, and takes no more than are.
func TestMetricsWhileItemsCome(t *testing.T) {
	for what, provider := range map[string]cache.InformerMetricsProvider{"of its own": &values{}, "of the process": nil} {
		t.Run(what, func(t *testing.T) {
			name, err := cache.NewInformerName("while-items-come")
			require.NoError(t, err)
			t.Cleanup(name.Release)
			m := newMetrics(name.WithResource(schema.GroupVersionResource{Resource: "pods"}), provider)
			m.start()
			const items = 100_000
			var producer sync.WaitGroup
			producer.Go(func() {
				for i := range items {
					if i%1000 == 0 {
						m.add(queueList)
					} else {
						m.add(queueChange)
					}
				}
			})
			for m.taken.Load() < items {
				m.Process(3, func() {})
			}
			producer.Wait()
			assert.EqualValues(t, items, m.added.Load())
			if received, ok := provider.(*values); ok {
				assert.Zero(t, received.queued, "the last number is reported last")
			}
		})
	}
}

// TestMetricsOfAChangeAllocateNothing is about a provider of the informer's own.
func TestMetricsOfAChangeAllocateNothing(t *testing.T) {
	name, err := cache.NewInformerName("allocations")
	require.NoError(t, err)
	t.Cleanup(name.Release)
	m := newMetrics(name.WithResource(schema.GroupVersionResource{Resource: "pods"}), &values{})
	m.start()
	process := func() {}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		m.add(queueChange)
		m.SetQueued(1)
		m.Process(1, process)
		m.SetQueued(0)
	}))
}
