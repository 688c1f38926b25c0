package ctrlruntime

import (
	"errors"
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/kubetyped/informer/queue"
)

// QueueMetrics reports what queues do to the metrics that controller-runtime has
// for its own queues, under the names of the queues, so that dashboards and alerts
// need not be changed: workqueue_depth by priority, workqueue_adds_total,
// workqueue_queue_duration_seconds and so on. Make one with NewQueueMetrics; it is
// for queue.WithMetrics.
type QueueMetrics struct {
	depth        *prometheus.GaugeVec
	adds         *prometheus.CounterVec
	latency      *prometheus.HistogramVec
	workDuration *prometheus.HistogramVec
	unfinished   *prometheus.GaugeVec
	longest      *prometheus.GaugeVec
	retries      *prometheus.CounterVec
}

var (
	_ workqueue.MetricsProvider     = (*QueueMetrics)(nil)
	_ queue.PriorityMetricsProvider = (*QueueMetrics)(nil)
)

// NewQueueMetrics finds controller-runtime's metrics in its registry,
// metrics.Registry. It returns an error if they are not there, which is so if that
// variable was given another registry; queues can then report to a provider of
// their user (see NewQueue and queue.WithMetrics).
func NewQueueMetrics() (*QueueMetrics, error) {
	m := &QueueMetrics{}
	err := errors.Join(
		find(metrics.DepthKey, &m.depth, nameLabel, controllerLabel, priorityLabel),
		find(metrics.AddsKey, &m.adds, nameLabel, controllerLabel),
		find(metrics.QueueLatencyKey, &m.latency, nameLabel, controllerLabel),
		find(metrics.WorkDurationKey, &m.workDuration, nameLabel, controllerLabel),
		find(metrics.UnfinishedWorkKey, &m.unfinished, nameLabel, controllerLabel),
		find(metrics.LongestRunningProcessorKey, &m.longest, nameLabel, controllerLabel),
		find(metrics.RetriesKey, &m.retries, nameLabel, controllerLabel),
	)
	if err != nil {
		return nil, fmt.Errorf("controller-runtime's metrics of queues: %w", err)
	}
	return m, nil
}

// find finds a metric of queues by its key and labels.
func find[C prometheus.Collector](key string, metric *C, labels ...string) error {
	name := queueMetric(key)
	existing, err := registered(name, labels...)
	if err != nil {
		return err
	}
	var ok bool
	if *metric, ok = existing.(C); !ok {
		return fmt.Errorf("%s is a %T", name, existing)
	}
	return nil
}

// registered returns a metric of controller-runtime by its name and labels. It is not
// exported, but a registry returns the metric that it has when the same is registered again.
func registered(name string, labels ...string) (prometheus.Collector, error) {
	registry, ok := metrics.Registry.(prometheus.Collector)
	if !ok {
		return nil, fmt.Errorf("%s: the registry is a %T, which does not list its metrics", name, metrics.Registry)
	}
	again, err := described(registry, name, labels)
	if err != nil {
		return nil, err
	}
	var already prometheus.AlreadyRegisteredError
	if err := metrics.Registry.Register(again); !errors.As(err, &already) {
		return nil, fmt.Errorf("%s is not in the registry as a separate metric: %v", name, err)
	}
	return already.ExistingCollector, nil
}

// described returns the description of a metric. All that can be read of one is its
// string.
func described(c prometheus.Collector, name string, labels []string) (description, error) {
	all := make(chan *prometheus.Desc)
	go func() {
		defer utilruntime.HandleCrash()
		defer close(all)
		c.Describe(all)
	}()
	var found *prometheus.Desc
	for d := range all {
		if strings.HasPrefix(d.String(), fmt.Sprintf("Desc{fqName: %q,", name)) {
			found = d
		}
	}
	if found == nil {
		return description{}, fmt.Errorf("%s is not in the registry", name)
	}
	if !strings.HasSuffix(found.String(), fmt.Sprintf("variableLabels: {%s}}", strings.Join(labels, ","))) {
		return description{}, fmt.Errorf("%s has other labels than %q: %v", name, labels, found)
	}
	return description{found}, nil
}

// description is a collector that is described so, and has no metrics.
type description struct{ *prometheus.Desc }

func (d description) Describe(to chan<- *prometheus.Desc) { to <- d.Desc }
func (description) Collect(chan<- prometheus.Metric)      {}

const (
	nameLabel       = "name"
	controllerLabel = "controller" // the same, for joins with metrics of controllers
	priorityLabel   = "priority"
)

// NewDepthMetric makes the depth of a queue without priorities.
func (m *QueueMetrics) NewDepthMetric(name string) workqueue.GaugeMetric { return m.depthOf(name, "") }

// NewDepthByPriorityMetric makes the depth of a queue by priority: a gauge for each
// of up to 25 priorities, as controller-runtime has, and one for all others.
func (m *QueueMetrics) NewDepthByPriorityMetric(name string) queue.PriorityGaugeMetric {
	return &depths{
		gauge: func(label string) workqueue.GaugeMetric { return m.depthOf(name, label) },
		of:    map[int]workqueue.GaugeMetric{},
	}
}

func (m *QueueMetrics) depthOf(name, priority string) workqueue.GaugeMetric {
	labels := labelsOf(name)
	labels[priorityLabel] = priority
	return m.depth.With(labels)
}

// NewAddsMetric makes the number of adds.
func (m *QueueMetrics) NewAddsMetric(name string) workqueue.CounterMetric {
	return m.adds.With(labelsOf(name))
}

// NewLatencyMetric makes the time from add to Get.
func (m *QueueMetrics) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return m.latency.With(labelsOf(name))
}

// NewWorkDurationMetric makes the time from Get to Done.
func (m *QueueMetrics) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return m.workDuration.With(labelsOf(name))
}

// NewUnfinishedWorkSecondsMetric makes the time since Get of all that is not done.
func (m *QueueMetrics) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return m.unfinished.With(labelsOf(name))
}

// NewLongestRunningProcessorSecondsMetric makes the longest of these times.
func (m *QueueMetrics) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return m.longest.With(labelsOf(name))
}

// NewRetriesMetric makes the number of adds with a delay or a rate limit.
func (m *QueueMetrics) NewRetriesMetric(name string) workqueue.CounterMetric {
	return m.retries.With(labelsOf(name))
}

func labelsOf(queue string) prometheus.Labels {
	return prometheus.Labels{nameLabel: queue, controllerLabel: queue}
}
