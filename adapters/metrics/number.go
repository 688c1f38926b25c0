package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
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

// description is a metric as one Metrics has it.
type description struct {
	of    *prometheus.Desc
	shape *shape
}

// Desc implements prometheus.Metric.
func (d *description) Desc() *prometheus.Desc { return d.of }
