package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
)

var _ workqueue.MetricsProvider = (*Metrics)(nil)

// clientGo contains the metrics of client-go's work queues, as Kubernetes' components have
// them: names, types, label and buckets are those of metrics/prometheus/workqueue in
// k8s.io/component-base.
type clientGo struct {
	depth, unfinished, longest *prometheus.GaugeVec
	adds, retries              *prometheus.CounterVec
	latency, workDuration      *prometheus.HistogramVec
}

func newClientGo() *clientGo {
	label := []string{nameLabel}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "workqueue_" + name, Help: help}, label)
	}
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "workqueue_" + name, Help: help}, label)
	}
	histogram := func(name, help string) *prometheus.HistogramVec {
		buckets := prometheus.ExponentialBuckets(1e-8, 10, 10)
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "workqueue_" + name, Help: help, Buckets: buckets}, label)
	}
	return &clientGo{
		depth:        gauge("depth", "Keys that wait, or will when they are done."),
		adds:         counter("adds_total", "Keys that have begun to wait."),
		latency:      histogram("queue_duration_seconds", "Time for which keys waited before they were handed out."),
		workDuration: histogram("work_duration_seconds", "Time that the processing of keys took."),
		unfinished:   gauge("unfinished_work_seconds", "Time since keys were handed out that are in process, added up."),
		longest:      gauge("longest_running_processor_seconds", "Time since the key was handed out that has been in process for longest."),
		retries:      counter("retries_total", "Adds with a delay or a rate limit."),
	}
}

func (c *clientGo) all() []prometheus.Collector {
	return []prometheus.Collector{c.depth, c.adds, c.latency, c.workDuration, c.unfinished, c.longest, c.retries}
}

// Describe implements prometheus.Collector.
func (c *clientGo) Describe(to chan<- *prometheus.Desc) {
	for _, v := range c.all() {
		v.Describe(to)
	}
}

// Collect implements prometheus.Collector.
func (c *clientGo) Collect(to chan<- prometheus.Metric) {
	for _, v := range c.all() {
		v.Collect(to)
	}
}

// NewDepthMetric implements workqueue.MetricsProvider: workqueue_depth.
func (m *Metrics) NewDepthMetric(name string) workqueue.GaugeMetric {
	return m.clientGo.depth.WithLabelValues(valid(name))
}

// NewAddsMetric implements workqueue.MetricsProvider: workqueue_adds_total.
func (m *Metrics) NewAddsMetric(name string) workqueue.CounterMetric {
	return m.clientGo.adds.WithLabelValues(valid(name))
}

// NewLatencyMetric implements workqueue.MetricsProvider:
// workqueue_queue_duration_seconds.
func (m *Metrics) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return m.clientGo.latency.WithLabelValues(valid(name))
}

// NewWorkDurationMetric implements workqueue.MetricsProvider:
// workqueue_work_duration_seconds.
func (m *Metrics) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return m.clientGo.workDuration.WithLabelValues(valid(name))
}

// NewUnfinishedWorkSecondsMetric implements workqueue.MetricsProvider:
// workqueue_unfinished_work_seconds.
func (m *Metrics) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return m.clientGo.unfinished.WithLabelValues(valid(name))
}

// NewLongestRunningProcessorSecondsMetric implements workqueue.MetricsProvider:
// workqueue_longest_running_processor_seconds.
func (m *Metrics) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return m.clientGo.longest.WithLabelValues(valid(name))
}

// NewRetriesMetric implements workqueue.MetricsProvider: workqueue_retries_total.
func (m *Metrics) NewRetriesMetric(name string) workqueue.CounterMetric {
	return m.clientGo.retries.WithLabelValues(valid(name))
}
