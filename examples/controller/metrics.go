package main

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/queue"
)

// metrics are the metrics of queues. They have the names that Kubernetes' own components give
// them (metrics/prometheus/workqueue in k8s.io/component-base), and similar names for those
// that only a queue.WorkQueue has. A program that has the client library of Prometheus makes
// its metrics here instead.
type metrics struct {
	mu  sync.Mutex
	all []*metric // guarded by mu; sorted by name
}

var _ queue.MetricsProvider = (*metrics)(nil)

func (m *metrics) NewDepthMetric(q string) workqueue.GaugeMetric {
	return m.add("workqueue_depth", gauge, q)
}

func (m *metrics) NewAddsMetric(q string) workqueue.CounterMetric {
	return m.add("workqueue_adds_total", counter, q)
}

func (m *metrics) NewLatencyMetric(q string) workqueue.HistogramMetric {
	return m.add("workqueue_queue_duration_seconds", summary, q)
}

func (m *metrics) NewWorkDurationMetric(q string) workqueue.HistogramMetric {
	return m.add("workqueue_work_duration_seconds", summary, q)
}

func (m *metrics) NewUnfinishedWorkSecondsMetric(q string) workqueue.SettableGaugeMetric {
	return m.add("workqueue_unfinished_work_seconds", gauge, q)
}

func (m *metrics) NewLongestRunningProcessorSecondsMetric(q string) workqueue.SettableGaugeMetric {
	return m.add("workqueue_longest_running_processor_seconds", gauge, q)
}

func (m *metrics) NewRetriesMetric(q string) workqueue.CounterMetric {
	return m.add("workqueue_retries_total", counter, q)
}

func (m *metrics) NewDelayedMetric(q string) workqueue.GaugeMetric {
	return m.add("workqueue_delayed", gauge, q)
}

func (m *metrics) NewInFlightMetric(q string) workqueue.GaugeMetric {
	return m.add("workqueue_in_flight", gauge, q)
}

func (m *metrics) NewOldestAgeSecondsMetric(q string) workqueue.SettableGaugeMetric {
	return m.add("workqueue_oldest_age_seconds", gauge, q)
}

func (m *metrics) add(name string, kind kind, q string) *metric {
	m.mu.Lock()
	defer m.mu.Unlock()
	added := &metric{name: name, kind: kind, queue: q}
	i, _ := slices.BinarySearchFunc(m.all, added, func(a, b *metric) int { return strings.Compare(a.name, b.name) })
	m.all = slices.Insert(m.all, i, added)
	return added
}

// write writes all metrics in the text format of Prometheus.
func (m *metrics) write(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, metric := range m.all {
		if i == 0 || m.all[i-1].name != metric.name {
			fmt.Fprintf(w, "# TYPE %s %s\n", metric.name, metric.kind)
		}
		metric.write(w)
	}
}

// ServeHTTP implements http.Handler.
func (m *metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	m.write(w)
}

// kind is what a metric is, as Prometheus calls it.
type kind string

const (
	counter kind = "counter"
	gauge   kind = "gauge"
	summary kind = "summary"
)

// metric is one metric of one queue.
type metric struct {
	name, queue string
	kind        kind

	mu    sync.Mutex
	value float64 // guarded by mu; of a summary, the sum of observations
	count uint64  // guarded by mu; how often something was
}

func (m *metric) Inc() { m.change(func() { m.value++ }) }

func (m *metric) Dec() { m.change(func() { m.value-- }) }

func (m *metric) Set(value float64) { m.change(func() { m.value = value }) }

func (m *metric) Observe(value float64) {
	m.change(func() {
		m.value += value
		m.count++
	})
}

func (m *metric) change(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func (m *metric) write(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	suffix := ""
	if m.kind == summary {
		suffix = "_sum"
		fmt.Fprintf(w, "%s_count{name=%q} %d\n", m.name, m.queue, m.count)
	}
	fmt.Fprintf(w, "%s%s{name=%q} %g\n", m.name, suffix, m.queue, m.value)
}
