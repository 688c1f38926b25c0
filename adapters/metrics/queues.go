package metrics

import (
	"strconv"

	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/kube"
)

// maxPriorities is how many priorities of a queue have their own series, as in
// controller-runtime: the highest.
const maxPriorities = 25

// nameLabel is the one label of queues, as in client-go.
const nameLabel = "name"

// collectQueues sets the metrics of the queues that were added.
func (c *collection) collectQueues() {
	for q := range distinct(c.options.queues) {
		r := q.Report(maxPriorities)
		l := c.labelled(r.Name)
		for _, d := range r.Depths {
			c.set(waitingKeys, c.with(l, 1, strconv.Itoa(d.Priority)), float64(d.Waiting))
		}
		if len(r.Depths) == 0 {
			c.set(waitingKeys, c.with(l, 1, "0"), 0)
		}
		c.set(inWorkKeys, l, float64(r.InFlight))
		c.set(delayedKeys, l, float64(r.Delayed))
		c.set(oldestAge, l, r.OldestAge.Seconds())
		c.set(stuckKeys, l, float64(r.Stuck))
		c.set(failingKeys, l, float64(r.FailingKeys))
		c.setTime(keyFailure, l, r.FailingSince)
		most := 0
		if len(r.Failing) > 0 {
			most = r.Failing[0].Failures
		}
		c.set(mostFailures, l, float64(most))
		c.collectResults(q, r.Results, l)
	}
}

// collectResults adds the results of the keys of a queue.
func (c *collection) collectResults(q Queue, r queue.Results, l *labels) {
	for _, result := range []struct {
		name  string
		count uint64
	}{{"success", r.Succeeded}, {"requeue", r.Requeued}, {"error", r.Failed}, {"terminal", r.Terminal}} {
		c.add(reconciles, c.from(source{of: q, name: result.name}), c.with(l, 1, result.name), float64(result.count))
	}
}

// collectExpectations sets the metrics of the expectations that were added.
func (c *collection) collectExpectations() {
	for e := range distinct(c.options.expectations) {
		s, l, from := e.Stats(), c.labelled(e.name), c.from(source{of: e.Expectations, name: e.name})
		c.set(expecting, l, float64(s.Keys))
		c.set(expectingWaiting, l, float64(s.Waiting))
		c.add(putOff, from, l, float64(s.PutOff))
		c.add(expired, from, l, float64(s.Expired))
	}
}

// collectWrites sets the metrics of the own writes that were added.
func (c *collection) collectWrites() {
	for w := range distinct(c.options.writes) {
		s, l, from := w.Status(), c.labelled(), c.from(source{of: w})
		c.add(takenWrites, from, l, float64(s.Taken))
		c.add(ignoredWrites, from, l, float64(s.Ignored))
		c.add(lateWrites, from, l, float64(s.Late))
		for reason, n := range s.LeftOut {
			c.add(leftOutWrites, c.from(source{of: w, name: reason}), c.with(l, 0, reason), float64(n))
		}
	}
}

// collectDeduplication sets the metrics of the deduplication table, of which there is one a
// process.
func (c *collection) collectDeduplication() {
	s, l := kube.Deduplication(), c.labelled()
	c.set(deduplicatedParts, l, float64(s.Parts))
	c.set(deduplicationBytes, l, float64(s.Bytes))
	from := c.from(source{})
	c.add(deduplicationLookups, from, l, float64(s.Looked))
	c.add(deduplicationHits, from, l, float64(s.Found))
}
