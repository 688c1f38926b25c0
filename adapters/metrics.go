package adapters

import (
	"strconv"
	"time"

	"k8s.io/client-go/tools/cache"
)

// metrics passes what an informer reports on to what a
// cache.InformerMetricsProvider has made. The methods of nil do nothing.
type metrics struct {
	queued  cache.GaugeMetric
	latency cache.HistogramMetric
	version cache.GaugeMetric
}

// newMetrics returns metrics for an informer, nil if there are none: without a
// provider, and for an identifier that was not reserved, as in client-go.
func newMetrics(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) *metrics {
	if provider == nil || !id.Reserved() {
		return nil
	}
	return &metrics{
		queued:  provider.NewQueuedItemMetric(id),
		latency: provider.NewProcessingLatencyMetric(id),
		version: provider.NewStoreResourceVersionMetric(id),
	}
}

// SetQueued implements typed.Metrics.
func (m *metrics) SetQueued(changes int) { m.queued.Set(float64(changes)) }

// ObserveProcessing implements typed.Metrics.
func (m *metrics) ObserveProcessing(d time.Duration) { m.latency.Observe(d.Seconds()) }

// exactDigits is how many digits of a resource version a float64 has room for.
const exactDigits = 15

// SetResourceVersion implements typed.Metrics. Of a version that is too long the
// last digits are told, as client-go does. One that is not a number is not told.
func (m *metrics) SetResourceVersion(version string) {
	if m == nil {
		return
	}
	if toldVersion(version) == "" {
		m.version.Set(0)
		return
	}
	if number, err := strconv.ParseInt(version[max(0, len(version)-exactDigits):], 10, 64); err == nil {
		m.version.Set(float64(number))
	}
}
