package queue

import (
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/internal/timing"
)

// MetricsProvider is a workqueue.MetricsProvider with additional metrics, which client-go's
// queue does not have. See WithMetrics.
type MetricsProvider interface {
	workqueue.MetricsProvider
	// These make Stats.Delayed, InFlight and OldestAge, which is set twice a second.
	NewDelayedMetric(name string) workqueue.GaugeMetric
	NewInFlightMetric(name string) workqueue.GaugeMetric
	NewOldestAgeSecondsMetric(name string) workqueue.SettableGaugeMetric
}

// PriorityMetricsProvider is a workqueue.MetricsProvider that has the depth of a queue, the number
// of keys that wait or will when they are done, by priority: then NewDepthMetric is not called.
type PriorityMetricsProvider interface {
	workqueue.MetricsProvider
	NewDepthByPriorityMetric(name string) PriorityGaugeMetric
}

// PriorityGaugeMetric is a workqueue.GaugeMetric for each priority.
type PriorityGaugeMetric interface {
	Inc(priority int)
	Dec(priority int)
}

// allPriorities makes one gauge of them.
type allPriorities struct{ workqueue.GaugeMetric }

func (g allPriorities) Inc(int) { g.GaugeMetric.Inc() }
func (g allPriorities) Dec(int) { g.GaugeMetric.Dec() }

// metrics are the metrics of a queue. Their methods are called with the queue's lock held, at
// the end of the change that they record; methods of nil do nothing. A metric that panics is
// reported to utilruntime.HandleCrash; if that ends the process, it does so without the lock.
type metrics struct {
	depth               PriorityGaugeMetric
	adds, retries       workqueue.CounterMetric
	latency             workqueue.HistogramMetric
	workDuration        workqueue.HistogramMetric
	unfinished, longest workqueue.SettableGaugeMetric
	delayed, inFlight   workqueue.GaugeMetric
	oldestAge           workqueue.SettableGaugeMetric

	crashed func(any) // is called before a panic continues
	// next is when those gauges are to be set that change as time goes by: never while they are
	// 0 and stay so until a key is added.
	next time.Duration
}

const metricsPeriod = 500 * time.Millisecond // as in client-go's queue

// newMetrics returns the metrics of a queue, nil if there is no provider.
func newMetrics(provider workqueue.MetricsProvider, name string, crashed func(any)) *metrics {
	if provider == nil {
		return nil
	}
	m := &metrics{
		adds:         provider.NewAddsMetric(name),
		latency:      provider.NewLatencyMetric(name),
		workDuration: provider.NewWorkDurationMetric(name),
		unfinished:   provider.NewUnfinishedWorkSecondsMetric(name),
		longest:      provider.NewLongestRunningProcessorSecondsMetric(name),
		retries:      provider.NewRetriesMetric(name),
		delayed:      noMetric{},
		inFlight:     noMetric{},
		oldestAge:    noMetric{},
		crashed:      crashed,
		next:         timing.Never,
	}
	if byPriority, ok := provider.(PriorityMetricsProvider); ok {
		m.depth = byPriority.NewDepthByPriorityMetric(name)
	} else {
		m.depth = allPriorities{provider.NewDepthMetric(name)}
	}
	if more, ok := provider.(MetricsProvider); ok {
		m.delayed = more.NewDelayedMetric(name)
		m.inFlight = more.NewInFlightMetric(name)
		m.oldestAge = more.NewOldestAgeSecondsMetric(name)
	}
	return m
}

// noMetric is a metric that the provider does not have.
type noMetric struct{}

func (noMetric) Inc()            {}
func (noMetric) Dec()            {}
func (noMetric) Set(float64)     {}
func (noMetric) Observe(float64) {}

func (m *metrics) call(f func()) {
	if m != nil {
		defer utilruntime.HandleCrash(m.crashed)
		f()
	}
}

// The first three record one key more, or less.
func (m *metrics) retried()    { m.call(func() { m.retries.Inc() }) }
func (m *metrics) delayBegan() { m.call(func() { m.delayed.Inc() }) }
func (m *metrics) delayEnded() { m.call(func() { m.delayed.Dec() }) }

// raised records a higher priority of a key that waits, or will.
func (m *metrics) raised(from, to int) {
	m.call(func() {
		m.depth.Dec(from)
		m.depth.Inc(to)
	})
}

// setMetrics sets the gauges that change as time goes by, when it is time to. It returns when
// it is to be called again. The caller holds mu.
func (q *WorkQueue[K]) setMetrics(now time.Duration) (next time.Duration) {
	m := q.metrics
	switch {
	case m == nil:
		return timing.Never
	case m.next > now:
		return m.next
	case q.isIdle():
		m.next = timing.Never
	default:
		m.next = now + metricsPeriod
	}
	var total, longest time.Duration
	for n := q.inWork.First; n != nil; n = n.Next {
		total += now - n.Of.since
		longest = max(longest, now-n.Of.since)
	}
	_, since := q.schedule.oldest(now)
	m.call(func() {
		m.unfinished.Set(total.Seconds())
		m.longest.Set(longest.Seconds())
		m.oldestAge.Set((now - since).Seconds())
	})
	return m.next
}
