package metrics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics is a collector of the metrics of informers, handlers, queues, expectations, groups,
// fleets and own writes, and the provider of queue metrics for queue.WithMetrics. Guarantees:
//
//  1. Without a collection nothing is done, except that queues report by themselves.
//  2. Bounded. There are as many series as kinds of objects, names of queues, groups and
//     fleets, and priorities, the latter up to 25 a queue, however many informers and
//     objects there are. Names of informers, handlers and clusters are labels only if
//     asked for, see WithInformerNames, WithHandlerNames and WithClusterNames.
//  3. Counters never fall because an informer, or handler, has ended while others with the
//     same labels continue. When the last one has, the series vanish.
//  4. The values of one informer are of one moment, apart from those of indexes.
//
// One registry takes one Metrics; for more, use prometheus.WrapRegistererWith. All
// methods are safe for concurrent use.
type Metrics struct {
	descriptions map[*definition]*description
	clientGo     *clientGo // collected unless options.withoutClientGo

	mu      sync.Mutex
	options options  // its parts, all of them, are guarded by mu
	added   []*parts // guarded by mu; by each Add that still counts
	counts  *counts  // guarded by mu; of the last collection
	gauges  int      // guarded by mu; of the last collection
}

var _ prometheus.Collector = (*Metrics)(nil)

// New returns Metrics that report what the options add, and registers them. It returns an
// error if an option cannot be used, or the registerer is nil or refuses them, as it does if
// there are such metrics in it already. To end them, call the registerer's Unregister.
func New(registerer prometheus.Registerer, opts ...Option) (*Metrics, error) {
	if err := check("registerer", registerer); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	o, err := applied(opts)
	if err != nil {
		return nil, err
	}
	m := &Metrics{descriptions: map[*definition]*description{}, clientGo: newClientGo(), options: o, added: []*parts{new(o.parts)}, counts: newCounts(&counts{})}
	shapes := map[string]*shape{}
	for _, d := range definitions {
		names := o.labelsOf(d)
		at := strings.Join(names, ",")
		if shapes[at] == nil {
			shapes[at] = newShape(names)
		}
		m.descriptions[d] = &description{of: prometheus.NewDesc(d.name, d.help, names, nil), shape: shapes[at]}
	}
	if err := registerer.Register(m); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return m, nil
}

var errForNew = errors.New("metrics: WithInformerNames, WithHandlerNames, WithClusterNames, WithIndexSizes and WithoutClientGoNames are options of New alone")

// Add adds parts to report, like the options of New. It returns an error, and adds nothing, if
// an option is invalid or only for New.
func (m *Metrics) Add(opts ...Option) error {
	return m.AddUntil(context.Background(), opts...)
}

// AddUntil is like Add, but removes the parts at the first scrape after ctx ends. Counters
// keep their last values, see promise 3. If a part is added again, its earlier counts are added
// again to the counters that it shares with others.
func (m *Metrics) AddUntil(ctx context.Context, opts ...Option) error {
	o, err := applied(opts)
	switch {
	case err != nil:
		return err
	case ctx == nil:
		return errors.New("metrics: AddUntil: the context is nil")
	case o.informerNames || o.handlerNames || o.clusterNames || o.indexes || o.withoutClientGo:
		return errForNew
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.added = append(m.added, &o.parts)
	m.joinParts()
	context.AfterFunc(ctx, func() { m.remove(&o.parts) })
	return nil
}

// remove removes parts that AddUntil added.
func (m *Metrics) remove(added *parts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.added = slices.DeleteFunc(m.added, func(p *parts) bool { return p == added })
	m.joinParts()
}

// joinParts sets the parts of options to all parts that still count. The caller holds mu.
func (m *Metrics) joinParts() {
	all := parts{}
	for _, added := range m.added {
		all.join(added)
	}
	m.options.parts = all
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range m.descriptions {
		to <- d.of
	}
	if !m.options.withoutClientGo {
		m.clientGo.Describe(to)
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	for _, metric := range m.collect() {
		to <- metric
	}
	if !m.options.withoutClientGo {
		m.clientGo.Collect(to)
	}
}

// collect returns the metrics that are not kept by queues.
func (m *Metrics) collect() []prometheus.Metric {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &collection{options: &m.options, gauges: make(map[series]float64, m.gauges), before: m.counts, counts: newCounts(m.counts)}
	c.collectInformers()
	c.collectQueues()
	c.collectExpectations()
	c.collectGroups()
	c.collectFleets()
	c.collectWrites()
	c.collectDeduplication()
	m.counts, m.gauges = c.counts, len(c.gauges)
	return c.metrics(m.descriptions)
}
