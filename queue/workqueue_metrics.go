package queue

import (
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/util/workqueue"
)

// MetricsProvider is a workqueue.MetricsProvider that also has metrics for what
// client-go's queue does not tell. See WithMetrics.
type MetricsProvider interface {
	workqueue.MetricsProvider
	// NewDelayedMetric makes the number of keys that are to be added later.
	NewDelayedMetric(name string) workqueue.GaugeMetric
	// NewInFlightMetric makes the number of keys that are being processed.
	NewInFlightMetric(name string) workqueue.GaugeMetric
	// NewOldestAgeSecondsMetric makes Stats.OldestAge, set twice a second.
	NewOldestAgeSecondsMetric(name string) workqueue.SettableGaugeMetric
}

// PriorityMetricsProvider is a workqueue.MetricsProvider that has the depth of a
// queue by priority. It takes the place of NewDepthMetric, which is not called
// then. See WithMetrics.
type PriorityMetricsProvider interface {
	workqueue.MetricsProvider
	// NewDepthByPriorityMetric makes the number of keys that wait, or will when
	// they are done.
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

// metrics are what a queue reports. Their methods are called with the queue's lock held, at
// the end of what they tell of; those of nil do nothing. A metric that panics is reported to
// utilruntime.HandleCrash; if that ends the process, it does so without the lock.
type metrics[K comparable] struct {
	depth        PriorityGaugeMetric
	adds         workqueue.CounterMetric
	latency      workqueue.HistogramMetric
	workDuration workqueue.HistogramMetric
	unfinished   workqueue.SettableGaugeMetric
	longest      workqueue.SettableGaugeMetric
	retries      workqueue.CounterMetric
	delayed      workqueue.GaugeMetric
	inFlight     workqueue.GaugeMetric
	oldestAge    workqueue.SettableGaugeMetric

	time    stopwatch
	crashed func(any)     // is called before a panic goes on
	next    time.Duration // when those gauges are to be set that change as time goes by
	settled bool          // they are 0 and stay so until a key is added
}

// metricsPeriod is that of client-go's queue.
const metricsPeriod = 500 * time.Millisecond

// newMetrics returns the metrics of a queue, nil if there is no provider.
func newMetrics[K comparable](provider workqueue.MetricsProvider, name string, time stopwatch, crashed func(any)) *metrics[K] {
	if provider == nil {
		return nil
	}
	m := &metrics[K]{
		adds:         provider.NewAddsMetric(name),
		latency:      provider.NewLatencyMetric(name),
		workDuration: provider.NewWorkDurationMetric(name),
		unfinished:   provider.NewUnfinishedWorkSecondsMetric(name),
		longest:      provider.NewLongestRunningProcessorSecondsMetric(name),
		retries:      provider.NewRetriesMetric(name),
		delayed:      noMetric{},
		inFlight:     noMetric{},
		oldestAge:    noMetric{},
		time:         time,
		crashed:      crashed,
		settled:      true,
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

// add tells that a key more waits with a priority, or will when it is done.
func (m *metrics[K]) add(priority int) {
	defer utilruntime.HandleCrash(m.crashed)
	m.adds.Inc()
	m.depth.Inc(priority)
}

// raised tells of a higher priority of what waits, or will.
func (m *metrics[K]) raised(from, to int) {
	if m != nil {
		defer utilruntime.HandleCrash(m.crashed)
		m.depth.Dec(from)
		m.depth.Inc(to)
	}
}

func (m *metrics[K]) retried() {
	if m != nil {
		defer utilruntime.HandleCrash(m.crashed)
		m.retries.Inc()
	}
}

// delayBegan tells that one key more is delayed.
func (m *metrics[K]) delayBegan() {
	if m != nil {
		defer utilruntime.HandleCrash(m.crashed)
		m.delayed.Inc()
	}
}

// delayEnded tells that one key less is delayed.
func (m *metrics[K]) delayEnded() {
	if m != nil {
		defer utilruntime.HandleCrash(m.crashed)
		m.delayed.Dec()
	}
}

// handedOut tells that a key is in process from now on, which had a priority and has waited.
func (m *metrics[K]) handedOut(priority int, waited time.Duration) {
	if m != nil {
		defer utilruntime.HandleCrash(m.crashed)
		m.depth.Dec(priority)
		m.latency.Observe(waited.Seconds())
		m.inFlight.Inc()
	}
}

// processed tells that a key is no longer in process, which was handed out at a time.
func (m *metrics[K]) processed(began time.Duration) {
	if m != nil {
		defer utilruntime.HandleCrash(m.crashed)
		m.workDuration.Observe((m.time.now() - began).Seconds())
		m.inFlight.Dec()
	}
}

// set sets the gauges that change as time goes by. The first entry in process is e.
func (m *metrics[K]) set(e *entry[K], oldestAge, now time.Duration) {
	defer utilruntime.HandleCrash(m.crashed)
	var total, longest time.Duration
	for ; e != nil; e = e.next {
		total += now - e.since
		longest = max(longest, now-e.since)
	}
	m.unfinished.Set(total.Seconds())
	m.longest.Set(longest.Seconds())
	m.oldestAge.Set(oldestAge.Seconds())
}

// crashed is called by a metric that has panicked. If that ends the process, or somebody
// recovers, the lock is not held for ever, and what was left is done.
func (q *WorkQueue[K]) crashed(any) {
	if utilruntime.ReallyCrash {
		q.makeTaken()
		q.unlock()
	}
}
