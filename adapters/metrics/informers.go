package metrics

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/report"
)

// collectInformers sets the metrics of all informers, each once, and of their handlers.
func (c *collection) collectInformers() {
	seen := map[typed.AnyInformer]bool{}
	collect := func(informers []typed.AnyInformer) {
		for _, i := range informers {
			if check("informer", i) == nil && !seen[i] {
				seen[i] = true
				c.collectInformer(i)
			}
		}
	}
	collect(c.options.informers)
	for _, f := range c.options.factories {
		collect(f.Informers())
	}
}

func (c *collection) collectInformer(i typed.AnyInformer) {
	s := i.Status()
	group, kind := s.Origin.Kind.Group, s.Origin.Kind.Kind
	if kind == "" {
		group, kind = s.Origin.Resource.Group, kindOf(s.Origin.Resource)
	}
	l, n := c.labelled(group, kind), 2
	if c.options.informerNames {
		l, n = c.with(l, n, cmp.Or(s.Name, i.Name())), n+1
	}
	from := c.from(source{of: i})
	for _, p := range phases {
		c.set(informers, c.with(l, n, p.String()), one(s.Phase == p))
	}
	c.collectServer(&s, from, l)
	c.set(objects, l, float64(s.Objects))
	c.set(queuedChanges, l, float64(s.Queued))
	c.add(events, from, l, float64(s.Events))
	c.setTime(lastEvent, l, s.LastEvent)
	c.add(rejected, from, l, float64(s.Rejected))
	c.set(rejectedObjects, l, float64(s.RejectedNow))
	if b := s.Budget; b.Objects > 0 || b.Bytes > 0 {
		c.set(budgetUsed, l, b.Used)
		if b.HeapBytes > 0 {
			c.set(heap, l, float64(b.HeapBytes))
		}
	}
	c.collectPacked(i, from, l)
	if b := s.FactoryBudget; b.Objects > 0 || b.Bytes > 0 {
		c.set(factoryBudgetUsed, c.labelled(), b.Used)
	}
	if c.options.indexes {
		for _, x := range i.IndexSizes() {
			named := c.with(l, n, x.Name)
			c.set(indexKeys, named, float64(x.Keys))
			c.set(indexLargest, named, float64(x.Largest))
		}
	}
	c.collectFollowed(&s, from, l, n)
	c.collectHandlers(&s, i, l, n)
}

// collectFollowed sets the numbers of names that a source follows.
func (c *collection) collectFollowed(s *report.Status, from *tally, l *labels, n int) {
	f := &s.Followed
	if f.Limit == 0 {
		return
	}
	for _, of := range []struct {
		state string
		names int
	}{{"pending", f.Pending}, {"present", f.Present}, {"absent", f.Absent}, {"refused", f.Refused}, {"unheld", f.Unheld}} {
		c.set(names, c.with(l, n, of.state), float64(of.names))
	}
	c.add(liveReads, from, l, float64(f.LiveReads))
}

// collectPacked sets the metrics of objects that are kept as bytes. When there are none any more,
// counters stay: an informer counts on when it has some again.
func (c *collection) collectPacked(i typed.AnyInformer, from *tally, l *labels) {
	p := i.EstimateHeap(0).Packed
	if p.Objects == 0 {
		for _, d := range []*definition{packedDecoded, packedDecoding} {
			if last, ok := from.numbers[d]; ok {
				c.add(d, from, l, last)
			}
		}
		return
	}
	c.set(packedBytes, l, float64(p.Bytes))
	c.set(packedRawBytes, l, float64(p.Raw))
	c.set(packedBases, l, float64(p.Bases))
	c.add(packedDecoded, from, l, float64(p.Decoded))
	c.add(packedDecoding, from, l, p.Decoding.Seconds())
}

// kindOf returns the label kind for the objects of a resource whose type has no kind, such as a
// custom struct: the kind that API types of the resource have, if client-go's scheme knows one,
// and otherwise the resource.
func kindOf(resource schema.GroupVersionResource) string {
	for kind := range scheme.Scheme.KnownTypes(resource.GroupVersion()) {
		if of, _ := meta.UnsafeGuessKindToResource(resource.GroupVersion().WithKind(kind)); of == resource {
			return kind
		}
	}
	return resource.Resource
}

// phases are the values of the label phase.
var phases = [...]report.Phase{report.PhaseNew, report.PhaseSyncing, report.PhaseSynced, report.PhaseStopped}

// collectServer sets the metrics of an informer's source.
func (c *collection) collectServer(s *report.Status, from *tally, l *labels) {
	served := !s.Origin.Kind.Empty() || !s.Origin.Resource.Empty()
	if served && s.Phase != report.PhaseStopped { // who has stopped has no contact
		c.setTime(lastContact, l, s.LastContact)
	}
	c.add(relists, from, l, float64(s.Relists))
	c.add(watches, from, l, float64(s.Watches))
	c.set(failures, l, float64(s.Failures))
	c.add(failed, from, l, float64(s.Failed))
	c.set(ahead, l, float64(s.Ahead.Keys))
	c.add(notStreamed, from, l, float64(s.NotStreamed))
	c.add(failedLists, from, l, float64(s.FailedLists))
	c.add(failedWatches, from, l, float64(s.FailedWatches))
	c.set(failing, l, one(s.Failures > 0))
	if s.Failures > 0 {
		c.setTime(firstFailure, l, s.Since)
	}
	c.add(receivedBytes, from, l, float64(s.Traffic.Bytes))
	c.add(receivedFrames, from, l, float64(s.Traffic.Frames))
	c.add(decoding, from, l, s.Traffic.Decoding.Seconds())
}

// collectHandlers sets the metrics of the handlers of an informer.
func (c *collection) collectHandlers(s *report.Status, informer typed.AnyInformer, l *labels, n int) {
	unnumbered := map[string]int{}
	for i := range s.Handlers {
		h := &s.Handlers[i]
		l := l
		if c.options.handlerNames {
			l = c.with(l, n, h.Name)
		}
		number := h.Number
		if number == 0 { // of an informer that does not number its handlers
			unnumbered[h.Name]--
			number = unnumbered[h.Name]
		}
		from := c.from(source{of: informer, name: h.Name, n: number})
		c.set(handlers, l, 1)
		c.set(backlog, l, float64(h.Backlog))
		c.add(panics, from, l, float64(h.Panics))
		c.set(handlersStuck, l, one(h.Stuck))
		if h.Times == nil && h.Current == nil {
			continue
		}
		current := 0.0
		if h.Current != nil {
			current = h.Current.Took.Seconds()
		}
		c.set(currentCall, l, current)
		if h.Times != nil {
			c.addTimes(callTimes, from, l, *h.Times)
		}
	}
}
