package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/kubetyped/informer/typed/report"
)

// number is a gauge or a counter. It is what prometheus.NewConstMetric makes, with labels
// that are shared.
type number struct {
	*description
	counts bool
	value  float64
	labels []*dto.LabelPair
}

// Write implements prometheus.Metric.
func (n *number) Write(to *dto.Metric) error {
	to.Label = n.labels
	if n.counts {
		to.Counter = &dto.Counter{Value: &n.value}
	} else {
		to.Gauge = &dto.Gauge{Value: &n.value}
	}
	return nil
}

// histogram is one of calls. It is what prometheus.NewConstHistogram makes, with labels
// that are shared.
type histogram struct {
	*description
	times  report.CallTimes
	labels []*dto.LabelPair
}

// bounds are those of calls, in seconds.
var bounds = func() (b [len(report.CallBounds)]float64) {
	for i, bound := range report.CallBounds {
		b[i] = bound.Seconds()
	}
	return b
}()

// Write implements prometheus.Metric.
func (h *histogram) Write(to *dto.Metric) error {
	buckets := make([]dto.Bucket, len(bounds))
	list := make([]*dto.Bucket, len(bounds))
	counts := make([]uint64, len(bounds))
	calls := uint64(0)
	for i := range bounds {
		calls += h.times.Counts[i]
		counts[i] = calls
		buckets[i].CumulativeCount, buckets[i].UpperBound = &counts[i], &bounds[i]
		list[i] = &buckets[i]
	}
	calls += h.times.Counts[len(bounds)]
	seconds := h.times.Sum.Seconds()
	to.Label = h.labels
	to.Histogram = &dto.Histogram{SampleCount: &calls, SampleSum: &seconds, Bucket: list}
	return nil
}

// description is a metric as one Metrics has it.
type description struct {
	of    *prometheus.Desc
	shape *shape
}

// Desc implements prometheus.Metric.
func (d *description) Desc() *prometheus.Desc { return d.of }
