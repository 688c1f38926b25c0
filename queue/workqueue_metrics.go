package queue

import (
	"time"

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

// metrics are what a queue reports. Their methods are called with the queue's
// lock held; those of nil do nothing.
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
	keys    *table[K, entry]
	added   paged[time.Duration] // when each key was first added since it was handed out
	next    time.Duration        // when those gauges are to be set that change as time goes by
	settled bool                 // they are 0 and stay so until a key is added
}

// metricsPeriod is that of client-go's queue.
const metricsPeriod = 500 * time.Millisecond

// newMetrics returns metrics about keys, nil if there is no provider.
func newMetrics[K comparable](provider workqueue.MetricsProvider, name string, time stopwatch, keys *table[K, entry]) *metrics[K] {
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
		keys:         keys,
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

// add tells that row n now waits with a priority, or will when it is done.
func (m *metrics[K]) add(n int32, priority int, now time.Duration) {
	if m == nil {
		return
	}
	*m.added.reserve(n) = now
	m.adds.Inc()
	m.depth.Inc(priority)
}

// raised tells of a higher priority of what waits, or will.
func (m *metrics[K]) raised(from, to int) {
	if m != nil {
		m.depth.Dec(from)
		m.depth.Inc(to)
	}
}

func (m *metrics[K]) retried() {
	if m != nil {
		m.retries.Inc()
	}
}

// delayBegan tells that one key more is delayed.
func (m *metrics[K]) delayBegan() {
	if m != nil {
		m.delayed.Inc()
	}
}

// delayEnded tells that one key less is delayed.
func (m *metrics[K]) delayEnded() {
	if m != nil {
		m.delayed.Dec()
	}
}

// handedOut tells that row n is in process from now on.
func (m *metrics[K]) handedOut(n int32, now time.Duration) {
	if m == nil {
		return
	}
	m.depth.Dec(m.keys.row(n).value.priority)
	m.latency.Observe((now - *m.added.at(n)).Seconds())
	m.inFlight.Inc()
}

// processed tells that row n is no longer in process.
func (m *metrics[K]) processed(n int32) {
	if m == nil {
		return
	}
	m.workDuration.Observe((m.time.now() - m.keys.row(n).value.since).Seconds())
	m.inFlight.Dec()
}

// release drops what is known of a page of rows.
func (m *metrics[K]) release(page int32) {
	if m != nil {
		m.added.release(page)
	}
}

// set sets the gauges that change as time goes by. The first key in process is
// that of row n.
func (m *metrics[K]) set(n int32, oldestAge, now time.Duration) {
	var total, longest time.Duration
	for ; n != noRow; n = m.keys.row(n).value.next {
		age := now - m.keys.row(n).value.since
		total += age
		longest = max(longest, age)
	}
	m.unfinished.Set(total.Seconds())
	m.longest.Set(longest.Seconds())
	m.oldestAge.Set(oldestAge.Seconds())
}
