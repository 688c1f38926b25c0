package queue_test

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/queue"
)

// model is a WorkQueue as its rules describe it: lists, and a search through
// them for everything.
type model struct {
	fair     bool
	ageing   int
	capacity int // 0: none
	joined   bool
	start    time.Time
	keys     map[string]*modelKey
	line     []*modelKey // those that wait, in the order in which they took their place
	delays   []*modelKey // those that are delayed, in the order in which they were
	levels   []*modelLevel
	handed   int // keys
	finished int // keys
	adds     int // that are not duplicates
	retries  uint64
	shutDown bool
	drains   int32        // that wait, as the rules say
	draining atomic.Int32 // that wait
	metrics  *depths
}

type modelKey struct {
	name                        string
	waiting, processing         bool
	dirty, delayed              bool
	priority, again, late       int
	joined, due                 time.Duration
	nth, at                     int // its place among its like, and handed, when it joined
	mostTenants, mostPriorities int // since then
}

// modelLevel is a priority that has keys waiting. The one that had its last turn
// first comes first, and so do tenants.
type modelLevel struct {
	priority int
	passes   int
	tenants  []string
}

func (m *model) now() time.Duration { return time.Since(m.start) }

func (m *model) tenant(name string) string {
	if m.fair {
		return tenantOf(name)
	}
	return ""
}

func (m *model) key(name string) *modelKey {
	if m.keys[name] == nil {
		m.keys[name] = &modelKey{name: name}
	}
	return m.keys[name]
}

// keep is the priority of a retry.
func (m *model) keep(name string) int {
	if k := m.key(name); k.processing {
		return k.priority
	}
	return 0
}

func (m *model) isFull(name string, o queue.AddOptions) bool {
	k := m.key(name)
	known := k.waiting || k.dirty
	switch {
	case m.joined:
		known = known || k.delayed
	case o.After > 0 || o.RateLimited:
		known = k.delayed
	}
	s := m.stats()
	return !m.shutDown && m.capacity > 0 && s.Waiting+s.Dirty+s.Delayed >= m.capacity && !known
}

func (m *model) addWith(name string, o queue.AddOptions) error {
	d := o.After
	if o.RateLimited && (d <= 0 || d > second) {
		d = second
	}
	return m.add(name, o.Priority, d, o.RateLimited || o.After > 0)
}

func (m *model) add(name string, priority int, d time.Duration, retry bool) error {
	if m.shutDown {
		return queue.ErrShutDown
	}
	if retry {
		m.retries++
	}
	k := m.key(name)
	due := m.now() + d
	switch {
	case d <= 0, m.joined && (k.waiting || k.dirty):
		m.enqueue(k, priority)
	case k.delayed && k.due <= due:
		k.late = max(k.late, priority)
	default:
		if k.delayed {
			k.late = max(k.late, priority)
			m.forgetDelay(k)
		} else {
			k.late = priority
		}
		k.delayed, k.due = true, due
		m.delays = append(m.delays, k)
	}
	return nil
}

func (m *model) forgetDelay(k *modelKey) {
	k.delayed = false
	m.delays = slices.DeleteFunc(m.delays, func(other *modelKey) bool { return other == k })
}

func (m *model) enqueue(k *modelKey, priority int) {
	if m.joined && k.delayed {
		priority = max(priority, k.late)
		m.forgetDelay(k)
	}
	switch {
	case k.waiting && priority > k.priority:
		m.leave(k)
		k.priority = priority
		m.join(k)
	case k.waiting:
	case k.processing && k.dirty:
		k.again = max(k.again, priority)
	case k.processing:
		k.dirty, k.again = true, priority
		m.adds++
	default:
		k.priority = priority
		m.adds++
		m.join(k)
	}
}

// join puts k at the end of the line.
func (m *model) join(k *modelKey) {
	k.waiting, k.joined, k.at = true, m.now(), m.handed
	k.nth = 1
	for _, other := range m.line {
		if other.priority == k.priority && m.tenant(other.name) == m.tenant(k.name) {
			k.nth++
		}
	}
	m.line = append(m.line, k)
	i := slices.IndexFunc(m.levels, func(l *modelLevel) bool { return l.priority == k.priority })
	if i < 0 {
		i = len(m.levels)
		m.levels = append(m.levels, &modelLevel{priority: k.priority})
	}
	if l := m.levels[i]; !slices.Contains(l.tenants, m.tenant(k.name)) {
		l.tenants = append(l.tenants, m.tenant(k.name))
	}
	k.mostTenants, k.mostPriorities = 0, 0
	m.measure()
}

// leave takes k out of the line, and removes tenants and levels that are then empty.
func (m *model) leave(k *modelKey) {
	k.waiting = false
	m.line = slices.DeleteFunc(m.line, func(other *modelKey) bool { return other == k })
	m.levels = slices.DeleteFunc(m.levels, func(l *modelLevel) bool {
		l.tenants = slices.DeleteFunc(l.tenants, func(tenant string) bool {
			return !slices.ContainsFunc(m.line, func(k *modelKey) bool {
				return k.priority == l.priority && m.tenant(k.name) == tenant
			})
		})
		return len(l.tenants) == 0
	})
}

// measure updates what the bound on waiting depends on.
func (m *model) measure() {
	for _, k := range m.line {
		k.mostPriorities = max(k.mostPriorities, len(m.levels))
		for _, l := range m.levels {
			if l.priority == k.priority {
				k.mostTenants = max(k.mostTenants, len(l.tenants))
			}
		}
	}
}

// get hands out the key whose turn it is.
func (m *model) get(t require.TestingT) string {
	next := slices.MaxFunc(m.levels, func(a, b *modelLevel) int { return cmp.Compare(a.priority, b.priority) })
	// Of equals, MaxFunc returns the first one.
	if most := slices.MaxFunc(m.levels, func(a, b *modelLevel) int { return cmp.Compare(a.passes, b.passes) }); most.passes >= m.ageing {
		next = most
	}
	tenant := next.tenants[0]
	i := slices.IndexFunc(m.line, func(k *modelKey) bool {
		return k.priority == next.priority && m.tenant(k.name) == tenant
	})
	k := m.line[i]

	m.handed++
	bound := k.nth * k.mostTenants * (m.ageing + k.mostPriorities)
	require.LessOrEqual(t, m.handed-k.at, bound, "key %s has waited for too many others", k.name)

	for _, l := range m.levels {
		l.passes++
	}
	next.passes = 0
	m.levels = append(slices.DeleteFunc(m.levels, func(l *modelLevel) bool { return l == next }), next)
	next.tenants = append(next.tenants[1:], tenant)
	m.leave(k)
	k.processing = true
	return k.name
}

func (m *model) done(name string) {
	k := m.keys[name]
	k.processing = false
	m.finished++
	if k.dirty {
		k.dirty = false
		k.priority = k.again
		m.join(k)
	}
}

// comeDue adds what is due, the earliest first.
func (m *model) comeDue() {
	slices.SortStableFunc(m.delays, func(a, b *modelKey) int { return cmp.Compare(a.due, b.due) })
	for len(m.delays) > 0 && m.delays[0].due <= m.now() {
		k := m.delays[0]
		m.delays = m.delays[1:]
		k.delayed = false
		wasWaiting := k.waiting && k.late <= k.priority
		m.enqueue(k, k.late)
		if !wasWaiting && k.waiting {
			k.joined = k.due
		}
	}
}

func (m *model) stop() {
	m.shutDown = true
	for _, k := range m.delays {
		k.delayed = false
	}
	m.delays = nil
}

func (m *model) stats() queue.Stats {
	s := queue.Stats{Waiting: len(m.line), Delayed: len(m.delays), Retries: m.retries}
	for _, k := range m.keys {
		if k.processing {
			s.InFlight++
		}
		if k.dirty {
			s.Dirty++
		}
	}
	for _, k := range m.line {
		s.OldestAge = max(s.OldestAge, m.now()-k.joined)
	}
	return s
}

// isIdle reports whether nothing waits and nothing is in process.
func (m *model) isIdle() bool {
	s := m.stats()
	return s.Waiting+s.InFlight == 0
}

// checkMetrics compares what the queue has reported.
func (m *model) checkMetrics(t require.TestingT) {
	s := m.stats()
	for metric, want := range map[string]int{
		"depth": s.Waiting + s.Dirty, "in flight": s.InFlight, "delayed": s.Delayed, "retries": int(s.Retries), "adds": m.adds,
	} {
		require.EqualValues(t, want, m.metrics.value(metric), metric)
	}
	require.Equal(t, m.depths(), m.metrics.byPriority())
	require.Equal(t, m.handed, m.metrics.count("latency"))
	require.Equal(t, m.finished, m.metrics.count("work duration"))
}
