package adapters

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
)

// metrics reports an informer's state as client-go's informers do: the same values, by the same
// names, at the same times. If the informer has its own provider, metrics gets metrics from it
// and sets them. A provider that was set for the whole process cannot be read from outside of
// client-go. Then a store and a queue of client-go do the reporting: they receive all changes,
// and hold no objects. The methods of nil do nothing.
type metrics struct {
	id       cache.InformerNameAndResource
	provider cache.InformerMetricsProvider // nil: that of the process
	store    cache.Store

	adding sync.Mutex      // held while items are added to queue: sources of namespaces are several
	queue  *cache.RealFIFO // set before the informer's goroutines use it; nil: own is used
	own    *ownMetrics     // set before, too
	added  atomic.Int64    // how many items are or were in queue
	taken  atomic.Int64    // how many of them the informer has taken
	before int64           // owned by the informer's goroutine: added, when it last took some
}

// ownMetrics are metrics of a queue that can be set directly. They cost much less than
// client-go's queue, which has an item for each change.
type ownMetrics struct {
	mu      sync.Mutex // held while counting and setting, to set the last count last
	queued  cache.GaugeMetric
	latency cache.HistogramMetric
}

// newMetrics returns metrics for an informer, nil if there are none: for an
// identifier that was not reserved, as in client-go.
func newMetrics(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) *metrics {
	if !id.Reserved() {
		return nil
	}
	store := cache.NewStore(cache.MetaNamespaceKeyFunc, cache.WithStoreMetrics(id, provider))
	return &metrics{id: id, provider: provider, store: store}
}

// start comes before the first change is queued: when the informer is run, as
// client-go's metrics of the queue come into being then.
func (m *metrics) start() {
	if m == nil {
		return
	}
	if m.provider != nil {
		m.own = &ownMetrics{queued: m.provider.NewQueuedItemMetric(m.id), latency: m.provider.NewProcessingLatencyMetric(m.id)}
		return
	}
	m.queue = cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
		KeyFunction:           m.key,
		AtomicEvents:          true,
		UnlockWhileProcessing: true,
		EmitDeltaTypeBookmark: true,
		Identifier:            m.id,
	})
}

var errLast = errors.New("object has no key, or is the last one that the informer stored")

// key is the key function of the queue, whose items are numbers. The queue hands
// out a batch up to an item of which the key is not known: that is the last one
// which the informer has taken. Lists and bookmarks have none.
func (m *metrics) key(item any) (string, error) {
	n, ok := item.(int64)
	if !ok || n == m.taken.Load() {
		return "", errLast
	}
	return strconv.FormatInt(n, 10), nil
}

// add notes a change, a list or a bookmark that is going to be queued; queue puts a change into
// client-go's queue for it. It is called by a goroutine that queues. An item is counted when it is
// in the queue: the informer waits for as many as are counted.
func (m *metrics) add(queue func(*cache.RealFIFO, int64) error) {
	switch {
	case m == nil:
	case m.own != nil:
		m.countOwn(&m.added, 1)
	default:
		m.adding.Lock()
		defer m.adding.Unlock()
		_ = queue(m.queue, m.added.Load()+1)
		m.added.Add(1)
	}
}

// The items of the queue. None returns an error: the key of a change is known, as it was not taken, and
// lists and bookmarks have no keys.
func queueChange(q *cache.RealFIFO, n int64) error   { return q.Add(n) }
func queueList(q *cache.RealFIFO, _ int64) error     { return q.Replace(nil, "") }
func queueBookmark(q *cache.RealFIFO, _ int64) error { return q.Bookmark("") }

// countOwn counts changes that are going to be queued, or that the informer has taken.
func (m *metrics) countOwn(counter *atomic.Int64, n int64) {
	m.own.mu.Lock()
	defer m.own.mu.Unlock()
	counter.Add(n)
	m.own.queued.Set(float64(m.added.Load() - m.taken.Load()))
}

// SetQueued implements observe.Metrics. The queue itself reports its length, but after objects
// were rejected it may have items that the informer has not.
func (m *metrics) SetQueued(changes int) {
	added := m.added.Load()
	surplus := added - m.taken.Load() - int64(changes)
	switch {
	case added != m.before || surplus <= 0:
	case m.own != nil:
		m.countOwn(&m.taken, surplus)
	default:
		m.pop(surplus, func() {})
	}
}

// Process implements observe.Metrics. The queue measures it.
func (m *metrics) Process(changes int, process func()) {
	m.before = m.added.Load()
	m.pop(min(int64(changes), m.before-m.taken.Load()), process)
}

// pop takes n items, and calls process with the first. Lists and bookmarks are
// handed out by themselves, the rest in batches.
func (m *metrics) pop(n int64, process func()) {
	if n <= 0 {
		return
	}
	if m.own != nil {
		m.countOwn(&m.taken, n)
		began := time.Now()
		process()
		m.own.latency.Observe(time.Since(began).Seconds())
		return
	}
	m.taken.Add(n)
	first := true
	handle := func(items int) error {
		if first {
			first = false
			process()
		}
		n -= int64(items)
		return nil
	}
	for n > 0 {
		// Neither handler returns an error, and the queue is never closed.
		_ = m.queue.PopBatch(
			func(items []cache.Delta, _ bool) error { return handle(len(items)) },
			func(any, bool) error { return handle(1) },
		)
	}
}

// SetResourceVersion implements observe.Metrics.
func (m *metrics) SetResourceVersion(version string) {
	if m != nil {
		m.store.Bookmark(clientVersion(version))
	}
}
