package adapters

import (
	"errors"
	"strconv"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"
)

// metrics reports how an informer fares, as client-go's informers do: what is
// reported, by which names, and when. A provider that was set for the whole
// process cannot be read from outside of client-go, so its store and queue do the
// reporting: they are told of all that happens, and hold no objects. The methods
// of nil do nothing.
type metrics struct {
	id       cache.InformerNameAndResource
	provider cache.InformerMetricsProvider // nil: that of the process
	store    cache.Store

	queue  *cache.RealFIFO // set before the informer's goroutines use it
	added  atomic.Int64    // how many items are or were in queue
	taken  atomic.Int64    // how many of them the informer has taken
	before int64           // owned by the informer's goroutine: added, when it last took some
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
	m.queue = cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
		KeyFunction:           m.key,
		AtomicEvents:          true,
		UnlockWhileProcessing: true,
		EmitDeltaTypeBookmark: true,
		Identifier:            m.id,
		MetricsProvider:       m.provider,
	})
}

var errLast = errors.New("it has no key, or is the last one that the informer has taken")

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

// add tells that a change is going to be queued. It is called by the goroutine
// that queues, as replace and bookmark are. An item is counted when it is in the
// queue: the informer waits for as many as are counted.
func (m *metrics) add() {
	if m != nil {
		_ = m.queue.Add(m.added.Load() + 1) // its key is known: it was not taken
		m.added.Add(1)
	}
}

// replace tells that a list is going to be queued.
func (m *metrics) replace() {
	if m != nil {
		_ = m.queue.Replace(nil, "") // it looks for no keys
		m.added.Add(1)
	}
}

// bookmark tells that a bookmark is going to be queued.
func (m *metrics) bookmark() {
	if m != nil {
		_ = m.queue.Bookmark("") // it looks for no keys
		m.added.Add(1)
	}
}

// SetQueued implements typed.Metrics. The queue tells by itself, but after
// objects were rejected it may have items that the informer has not.
func (m *metrics) SetQueued(changes int) {
	if added := m.added.Load(); added == m.before {
		m.pop(added-m.taken.Load()-int64(changes), func() {})
	}
}

// Process implements typed.Metrics. The queue measures it.
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

// SetResourceVersion implements typed.Metrics.
func (m *metrics) SetResourceVersion(version string) {
	if m != nil {
		m.store.Bookmark(toldVersion(version))
	}
}
