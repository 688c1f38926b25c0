package ctrlruntime

import (
	"strconv"

	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/queue"
)

const (
	// maxPriorities is how many priorities have their own gauges, as in controller-runtime:
	// each is a time series to keep.
	maxPriorities = 25
	// otherPriorities is how controller-runtime labels the others.
	otherPriorities = "exceeded_cardinality_limit"
)

// depths is the depth of a queue by priority. It is called with the queue's lock
// held.
type depths struct {
	gauge func(label string) workqueue.GaugeMetric
	of    map[int]workqueue.GaugeMetric
	other workqueue.GaugeMetric // of all that are not in of; nil until it is needed
}

var _ queue.PriorityGaugeMetric = (*depths)(nil)

func (d *depths) Inc(priority int) { d.at(priority).Inc() }
func (d *depths) Dec(priority int) { d.at(priority).Dec() }

func (d *depths) at(priority int) workqueue.GaugeMetric {
	if g, ok := d.of[priority]; ok {
		return g
	}
	if len(d.of) < maxPriorities {
		g := d.gauge(strconv.Itoa(priority))
		d.of[priority] = g
		return g
	}
	if d.other == nil {
		d.other = d.gauge(otherPriorities)
	}
	return d.other
}
