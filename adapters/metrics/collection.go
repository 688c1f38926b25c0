package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubetyped/informer/typed/report"
)

// series are all values of a metric with the same labels.
type series struct {
	of     *definition
	labels *labels
}

// source is what counts something: an informer, a handler of it, a queue.
type source struct {
	of   any    // the pointer
	name string // of the handler
	n    int    // of those before it that have the same name
}

// count is a number that a source counts.
type count struct {
	of   *definition
	from source
}

// counts are what sources have counted, and what that has come to for each series: a
// series goes on when a source of it ends.
type counts struct {
	labels     map[labels]*labels // by value
	last       map[count]float64
	totals     map[series]float64
	lastTimes  map[source]report.CallTimes
	totalTimes map[series]report.CallTimes
}

// newCounts returns counts with room for as much as before has, which may be nil.
func newCounts(before *counts) *counts {
	if before == nil {
		before = &counts{}
	}
	return &counts{
		labels:     make(map[labels]*labels, len(before.labels)),
		last:       make(map[count]float64, len(before.last)),
		totals:     make(map[series]float64, len(before.totals)),
		lastTimes:  make(map[source]report.CallTimes, len(before.lastTimes)),
		totalTimes: make(map[series]report.CallTimes, len(before.totalTimes)),
	}
}

// collection is what is told at one time.
type collection struct {
	options *options
	gauges  map[series]float64
	before  *counts
	counts  *counts
}

// set tells the value of a gauge.
func (c *collection) set(d *definition, l *labels, value float64) {
	s := series{d, l}
	old, ok := c.gauges[s]
	switch {
	case !ok:
	case d.combine == sum:
		value += old
	case d.combine == largest:
		value = max(value, old)
	case d.combine == smallest:
		value = min(value, old)
	}
	c.gauges[s] = value
}

// setTime tells a moment, unless it is zero.
func (c *collection) setTime(d *definition, l *labels, at time.Time) {
	if !at.IsZero() {
		c.set(d, l, float64(at.UnixNano())/float64(time.Second))
	}
}

// add tells how much a source has counted.
func (c *collection) add(d *definition, from source, l *labels, value float64) {
	s, n := series{d, l}, count{d, from}
	total, ok := c.counts.totals[s]
	if !ok {
		total = c.before.totals[s]
	}
	if last, ok := c.before.last[n]; ok && last <= value {
		total += value - last
	} else {
		total += value
	}
	c.counts.totals[s], c.counts.last[n] = total, value
}

// addTimes tells what calls of a source took.
func (c *collection) addTimes(d *definition, from source, l *labels, times report.CallTimes) {
	s := series{d, l}
	total, ok := c.counts.totalTimes[s]
	if !ok {
		total = c.before.totalTimes[s]
	}
	last := c.before.lastTimes[from]
	if last.Sum > times.Sum || last.Calls() > times.Calls() {
		last = report.CallTimes{} // it has begun anew
	}
	for i := range total.Counts {
		total.Counts[i] += times.Counts[i] - last.Counts[i]
	}
	total.Sum += times.Sum - last.Sum
	c.counts.totalTimes[s], c.counts.lastTimes[from] = total, times
}

// metrics returns all that was told.
func (c *collection) metrics(descriptions map[*definition]*description) []prometheus.Metric {
	all := make([]prometheus.Metric, 0, len(c.gauges)+len(c.counts.totals)+len(c.counts.totalTimes))
	pairs := make(pairs, 2*len(c.counts.labels))
	add := func(s series, value float64) {
		d := descriptions[s.of]
		all = append(all, &number{description: d, counts: s.of.kind == prometheus.CounterValue, value: value, labels: pairs.of(d.shape, s.labels)})
	}
	for s, value := range c.gauges {
		add(s, value)
	}
	for s, value := range c.counts.totals {
		add(s, value)
	}
	for s, times := range c.counts.totalTimes {
		d := descriptions[s.of]
		all = append(all, &histogram{description: d, times: times, labels: pairs.of(d.shape, s.labels)})
	}
	return all
}
