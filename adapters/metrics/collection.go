package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubetyped/informer/typed/report"
)

// maxLabels is the most labels that a metric has.
const maxLabels = 5

// labels are the values of a metric's labels, as many as it has.
type labels [maxLabels]string

// with returns l, of which n are in use, with one more.
func (l labels) with(n int, value string) labels {
	l[n] = valid(value)
	return l
}

// valid returns a value as Prometheus' client takes it.
func valid(value string) string { return strings.ToValidUTF8(value, "\uFFFD") }

// series are all values of a metric with the same labels.
type series struct {
	of     *definition
	labels labels
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
	last       map[count]float64
	totals     map[series]float64
	lastTimes  map[source]report.CallTimes
	totalTimes map[series]report.CallTimes
}

func newCounts() *counts {
	return &counts{
		last: map[count]float64{}, totals: map[series]float64{},
		lastTimes: map[source]report.CallTimes{}, totalTimes: map[series]report.CallTimes{},
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
func (c *collection) set(d *definition, l labels, value float64) {
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
func (c *collection) setTime(d *definition, l labels, at time.Time) {
	if !at.IsZero() {
		c.set(d, l, float64(at.UnixNano())/float64(time.Second))
	}
}

// add tells how much a source has counted.
func (c *collection) add(d *definition, from source, l labels, value float64) {
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
func (c *collection) addTimes(d *definition, from source, l labels, times report.CallTimes) {
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
func (c *collection) metrics(descriptions map[*definition]*prometheus.Desc) []prometheus.Metric {
	all := make([]prometheus.Metric, 0, len(c.gauges)+len(c.counts.totals)+len(c.counts.totalTimes))
	number := map[*definition]int{}
	for _, d := range definitions {
		number[d] = len(c.options.labelsOf(d))
	}
	add := func(s series, value float64) {
		all = append(all, prometheus.MustNewConstMetric(descriptions[s.of], s.of.kind, value, s.labels[:number[s.of]]...))
	}
	for s, value := range c.gauges {
		add(s, value)
	}
	for s, value := range c.counts.totals {
		add(s, value)
	}
	for s, times := range c.counts.totalTimes {
		buckets := make(map[float64]uint64, len(report.CallBounds))
		calls := uint64(0)
		for i, bound := range report.CallBounds {
			calls += times.Counts[i]
			buckets[bound.Seconds()] = calls
		}
		all = append(all, prometheus.MustNewConstHistogram(descriptions[s.of], times.Calls(), times.Sum.Seconds(), buckets, s.labels[:number[s.of]]...))
	}
	return all
}
