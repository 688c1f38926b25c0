package adapters_test

import (
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// gauges is a metrics provider that records its metrics and their values.
type gauges struct {
	mu      sync.Mutex
	made    map[string]int
	ids     map[cache.InformerNameAndResource]bool
	queued  series
	latency series
	version series
}

func newGauges() *gauges {
	return &gauges{made: map[string]int{}, ids: map[cache.InformerNameAndResource]bool{}}
}

func (g *gauges) make(name string, id cache.InformerNameAndResource, s *series) *series {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.made[name]++
	g.ids[id] = true
	return s
}

func (g *gauges) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return g.make("queued", id, &g.queued)
}

func (g *gauges) NewProcessingLatencyMetric(id cache.InformerNameAndResource) cache.HistogramMetric {
	return g.make("latency", id, &g.latency)
}

func (g *gauges) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return g.make("version", id, &g.version)
}

// series is the values of a metric.
type series struct {
	mu     sync.Mutex
	values []float64
}

func (s *series) Set(v float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values = append(s.values, v)
}

func (s *series) Observe(v float64) { s.Set(v) }

// all returns the values once all is quiet.
func (s *series) all() []float64 {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]float64(nil), s.values...)
}

func (s *series) last() float64 {
	values := s.all()
	if len(values) == 0 {
		return -1
	}
	return values[len(values)-1]
}

// identifier returns one that is the test's own.
func identifier(t *testing.T) (*cache.InformerName, cache.InformerNameAndResource) {
	name, err := cache.NewInformerName("contract")
	require.NoError(t, err)
	t.Cleanup(name.Release)
	return name, name.WithResource(corev1.SchemeGroupVersion.WithResource("pods"))
}

func TestContractMetrics(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		_, id := identifier(t)
		g := newGauges()
		r := newRigWith(t, pods, cache.SharedIndexInformerOptions{Identifier: id, InformerMetricsProvider: g})
		r.script.lists("10", pod("a", "1"))
		rec := r.handle()
		r.run()
		assert.Equal(t, map[string]int{"queued": 1, "latency": 1, "version": 1}, g.made)
		assert.Equal(t, map[cache.InformerNameAndResource]bool{id: true}, g.ids)
		assert.Equal(t, 10.0, g.version.last())
		assert.Zero(t, g.queued.last())
		assert.Contains(t, g.queued.all(), 1.0, "the list was queued")
		assert.NotEmpty(t, g.latency.all())

		handled := len(g.latency.all())
		r.send(added(pod("b", "11")))
		r.send(bookmark("15"))
		assert.Greater(t, len(g.latency.all()), handled)
		assert.Equal(t, 15.0, g.version.last())
		assert.Zero(t, g.queued.last())
		for _, v := range g.latency.all() {
			assert.GreaterOrEqual(t, v, 0.0)
		}
		assert.Len(t, rec.next(), 2)
	})
}

// The store's version follows writes of others too.
func TestContractMetricsOfStore(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		_, id := identifier(t)
		g := newGauges()
		store := newRigWith(t, pods, cache.SharedIndexInformerOptions{Identifier: id, InformerMetricsProvider: g}).GetIndexer()
		require.NoError(t, store.Add(pod("a", "5")))
		assert.Equal(t, 5.0, g.version.last())
		require.NoError(t, store.Update(pod("a", "odd")))
		assert.Equal(t, 5.0, g.version.last(), "what is no number is left out")
		require.NoError(t, store.Delete(pod("a", "6")))
		assert.Equal(t, 6.0, g.version.last())
		require.NoError(t, store.Delete(cache.ExplicitKey("ns/a")))
		assert.Equal(t, 6.0, g.version.last())
		require.NoError(t, store.Replace(nil, "7"))
		assert.Equal(t, 7.0, g.version.last())
		store.Bookmark("8123456789012345678")
		assert.Equal(t, 456789012345678.0, g.version.last(), "the last 15 digits, which a float can hold")
		assert.Nil(t, store.(cache.TransactionStore).Transaction(add(pod("b", "9"))))
		assert.Equal(t, 9.0, g.version.last())
		require.NoError(t, store.Add(pod("b", "")))
		assert.Zero(t, g.version.last())
	})
}

// Without a reserved identifier there are no metrics.
func TestContractMetricsWithoutIdentifier(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		name, _ := identifier(t)
		duplicate := name.WithResource(corev1.SchemeGroupVersion.WithResource("pods"))
		for _, id := range []cache.InformerNameAndResource{{}, duplicate} {
			g := newGauges()
			r := newRigWith(t, pods, cache.SharedIndexInformerOptions{Identifier: id, InformerMetricsProvider: g})
			r.run()
			r.send(added(pod("a", "11")))
			assert.Empty(t, g.made)
		}
	})
}

// The number of queued items is reported whenever an item is added or processed.
func TestContractMetricsOfQueue(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		_, id := identifier(t)
		g := newGauges()
		r := newRigWith(t, pods, cache.SharedIndexInformerOptions{Identifier: id, InformerMetricsProvider: g})
		assert.Equal(t, map[string]int{"version": 1}, g.made, "the queue comes with Run")
		r.script.lists("10", pod("a", "1"))
		hold := make(chan struct{})
		require.NoError(t, r.AddIndexers(cache.Indexers{"hold": func(obj any) ([]string, error) {
			if obj.(*corev1.Pod).Name == "hold" {
				<-hold
			}
			return nil, nil
		}}))
		r.run()
		assert.Equal(t, []float64{1, 0}, g.queued.all())
		r.send(added(pod("hold", "11")))
		assert.Equal(t, []float64{1, 0, 1, 0}, g.queued.all())
		handled := len(g.latency.all())
		r.send(added(pod("b", "12")), modified(pod("b", "13")), deleted(pod("a", "14")))
		assert.Equal(t, []float64{1, 0, 1, 0, 1, 2, 3}, g.queued.all(), "while the informer is busy")
		assert.Len(t, g.latency.all(), handled, "it is not done")
		time.Sleep(3 * time.Second)
		close(hold)
		assert.Zero(t, g.queued.last())
		assert.Contains(t, g.latency.all()[handled:], 3.0)
	})
}

// The provider of the process receives the metrics of all informers that have a name and no
// provider.
func TestContractMetricsOfProcess(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		_, id := identifier(t)
		g := processMetrics.reset()
		r := newRigWith(t, pods, cache.SharedIndexInformerOptions{Identifier: id})
		r.script.lists("10", pod("a", "1"))
		r.run()
		r.send(added(pod("b", "11")))
		r.send(bookmark("15"))
		assert.Equal(t, map[string]int{"queued": 1, "latency": 1, "version": 1}, g.made)
		assert.Equal(t, map[cache.InformerNameAndResource]bool{id: true}, g.ids)
		assert.Equal(t, []float64{1, 0, 1, 0, 0}, g.queued.all(), "bookmarks are told of when they are taken")
		assert.Equal(t, []float64{10, 11, 15}, g.version.all())
		assert.Equal(t, []float64{0, 0, 0}, g.latency.all())
	})
}

// Whatever comes in a row, nothing is left in the end.
func TestContractMetricsOfManyBatches(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		_, id := identifier(t)
		g := processMetrics.reset()
		r := newRigWith(t, pods, cache.SharedIndexInformerOptions{Identifier: id})
		r.run()
		hold := make(chan struct{})
		require.NoError(t, r.AddIndexers(cache.Indexers{"hold": func(obj any) ([]string, error) {
			if obj.(*corev1.Pod).Name == "hold" {
				<-hold
			}
			return nil, nil
		}}))
		r.send(added(pod("hold", "11")))
		for i := range 1500 {
			r.script.send(t, added(pod("a", strconv.Itoa(100+2*i))), bookmark(strconv.Itoa(101+2*i)))
		}
		close(hold)
		assert.Equal(t, 3099.0, g.version.last())
		assert.Zero(t, g.queued.last())
		r.relist("5000", pod("b", "5000"))
		assert.Zero(t, g.queued.last())
		assert.Equal(t, 5000.0, g.version.last())
	})
}

// processMetrics is the provider that is set for the process.
var processMetrics swappedGauges

// swappedGauges passes on to gauges that can be changed.
type swappedGauges struct {
	mu  sync.Mutex
	now *gauges // guarded by mu; nil: none
}

func (s *swappedGauges) reset() *gauges {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = newGauges()
	return s.now
}

func (s *swappedGauges) gauges() *gauges {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		s.now = newGauges()
	}
	return s.now
}

func (s *swappedGauges) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return s.gauges().NewQueuedItemMetric(id)
}

func (s *swappedGauges) NewProcessingLatencyMetric(id cache.InformerNameAndResource) cache.HistogramMetric {
	return s.gauges().NewProcessingLatencyMetric(id)
}

func (s *swappedGauges) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return s.gauges().NewStoreResourceVersionMetric(id)
}
