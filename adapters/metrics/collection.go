package metrics

import (
	"iter"
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
	name string // of the handler, or expectations
	n    int    // of a handler: its number, or minus its place among those of its name
}

// tally holds the counts of a source, as of the last collection.
type tally struct {
	numbers map[*definition]float64
	times   report.CallTimes
}

// counts holds the tallies of sources, and the totals that they add up to for each series: a
// series continues when a source of it ends.
type counts struct {
	labels     map[labels]*labels // by value
	tallies    map[source]*tally
	totals     map[series]float64
	totalTimes map[series]report.CallTimes
}

// newCounts returns counts with room for as much as before has.
func newCounts(before *counts) *counts {
	return &counts{
		labels:     make(map[labels]*labels, len(before.labels)),
		tallies:    make(map[source]*tally, len(before.tallies)),
		totals:     make(map[series]float64, len(before.totals)),
		totalTimes: make(map[series]report.CallTimes, len(before.totalTimes)),
	}
}

// collection holds the values of one call of Collect.
type collection struct {
	options *options
	gauges  map[series]float64
	before  *counts
	counts  *counts
}

// set adds the value of a gauge.
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

// setTime adds a moment, unless it is zero.
func (c *collection) setTime(d *definition, l *labels, at time.Time) {
	if !at.IsZero() {
		c.set(d, l, float64(at.UnixNano())/float64(time.Second))
	}
}

// from returns the tally of a source.
func (c *collection) from(s source) *tally {
	t := c.counts.tallies[s]
	if t == nil {
		if t = c.before.tallies[s]; t == nil {
			t = &tally{numbers: map[*definition]float64{}}
		}
		c.counts.tallies[s] = t
	}
	return t
}

// add adds the count of a source.
func (c *collection) add(d *definition, from *tally, l *labels, value float64) {
	s := series{d, l}
	total, ok := c.counts.totals[s]
	if !ok {
		total = c.before.totals[s]
	}
	last := from.numbers[d]
	if last > value {
		last = 0 // it has started again
	}
	c.counts.totals[s] = total + value - last
	from.numbers[d] = value
}

// addTimes adds the times that calls of a source took.
func (c *collection) addTimes(d *definition, from *tally, l *labels, times report.CallTimes) {
	s := series{d, l}
	total, ok := c.counts.totalTimes[s]
	if !ok {
		total = c.before.totalTimes[s]
	}
	last := from.times
	if last.Sum > times.Sum || last.Calls() > times.Calls() {
		last = report.CallTimes{} // it has started again
	}
	for i := range total.Counts {
		total.Counts[i] += times.Counts[i] - last.Counts[i]
	}
	total.Sum += times.Sum - last.Sum
	c.counts.totalTimes[s], from.times = total, times
}

// metrics returns all values of the collection.
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

// distinct ranges over the elements of a list, over those that it has twice once.
func distinct[E comparable](list []E) iter.Seq[E] {
	return func(yield func(E) bool) {
		seen := map[E]bool{}
		for _, e := range list {
			if !seen[e] && !yield(e) {
				return
			}
			seen[e] = true
		}
	}
}
