package fleet

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubetyped/informer/internal/loglimit"
	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/typed/source"
)

// group is the clusters of one informer: one run of a Source. Locks are taken in the order
// order of a member, first, versions, and then those that are held for moments: mu, and
// that of a member's health.
type group[T Object] struct {
	of     *Source[T]
	sink   source.Sink[InCluster[T]]
	ctx    context.Context // of Run
	cancel context.CancelFunc
	since  time.Time // that it runs

	running sync.WaitGroup // all goroutines

	first    monitor.LongLock // held while a first list is kept, and while the informer syncs
	waitsFor string           // guarded by first; discoveries that do not know all their clusters
	synced   chan struct{}    // closed with first held, when the first Replace was reported
	versions monitor.LongLock // held through each report that has the versions of all clusters

	mu      sync.Mutex
	members map[string]*member[T] // guarded by mu
	moved   chan struct{}         // guarded by mu; closed at a change, nil while no caller waits

	received, expected atomic.Int64 // by the latest lists of all clusters

	troubles troubles
	lines    *loglimit.Group // what is logged of failures
	due      due
}

func newGroup[T Object](ctx context.Context, of *Source[T], sink source.Sink[InCluster[T]]) *group[T] {
	g := &group[T]{
		of: of, sink: sink, since: time.Now(), members: map[string]*member[T]{},
		first: monitor.NewLongLock(), versions: monitor.NewLongLock(), synced: make(chan struct{}),
	}
	g.ctx, g.cancel = context.WithCancel(ctx)
	g.lines = loglimit.NewGroup(g.log)
	g.due.wake = make(chan struct{}, 1)
	g.running.Go(g.confirm)
	return g
}

// end ends all sessions, and waits for them. Nothing is reported of that: stopping never
// looks like deletion.
func (g *group[T]) end() {
	g.cancel()
	g.running.Wait()
	g.lines.End()
	for _, m := range g.all() {
		g.due.add(m.health.dismiss())
	}
	g.due.end()
}

// set makes entries the clusters of the group. It is called by the goroutine of Run.
func (g *group[T]) set(entries []entry, waitsFor string) {
	defer g.report()
	wanted := make(map[string]entry, len(entries))
	for _, e := range entries {
		wanted[e.Name] = e
	}
	for _, m := range g.all() {
		if e, stays := wanted[m.name]; !stays || e.joined != m.joined {
			g.change(func() { delete(g.members, m.name) })
			m.leave()
			g.noteFailure(m)
		}
	}
	added := g.add(entries)
	g.first.Lock()
	g.waitsFor = waitsFor
	g.first.Unlock()
	for _, e := range entries {
		m := g.member(e.Name)
		if m.changed == e.changed && !added[e.Name] {
			continue
		}
		m.start(e.Cluster)
		g.change(func() { m.changed = e.changed })
		m.bePatient()
	}
	g.syncIfReady()
}

// add makes those entries members that are none, and reports by name which. None starts before all
// are there: the first sync waits for members.
func (g *group[T]) add(entries []entry) (added map[string]bool) {
	added = map[string]bool{}
	g.change(func() {
		for _, e := range entries {
			if g.members[e.Name] == nil {
				g.members[e.Name] = newMember(g, e)
				added[e.Name] = true
			}
		}
	})
	return added
}

// change changes the members, and wakes the callers that wait for that.
func (g *group[T]) change(by func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	by()
	if g.moved != nil {
		close(g.moved)
		g.moved = nil
	}
}

// member returns the member of a name, nil if there is none.
func (g *group[T]) member(name string) *member[T] {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.members[name]
}

// all returns the members in the order of their names.
func (g *group[T]) all() []*member[T] {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.SortedFunc(maps.Values(g.members), func(a, b *member[T]) int { return strings.Compare(a.name, b.name) })
}

// isSynced reports whether the first Replace was reported.
func (g *group[T]) isSynced() bool { return monitor.IsClosed(g.synced) }

// syncIfReady makes the first report, when nothing is left to wait for.
func (g *group[T]) syncIfReady() {
	if g.isSynced() {
		return
	}
	g.first.Lock()
	defer g.first.Unlock()
	g.syncNow()
}

// syncNow does so. The caller holds first.
func (g *group[T]) syncNow() {
	if g.isSynced() {
		return
	}
	members := g.all()
	if waits := g.waiting(members); waits != nil {
		g.troubles.wait(waits)
		return
	}
	size := 0
	for _, m := range members {
		size += len(m.firsts.list)
	}
	list := make([]source.Staged, 0, size)
	var listed []*member[T]
	for _, m := range members {
		list = append(list, m.firsts.list...)
		m.firsts.list = nil
		if m.firsts.listed {
			listed = append(listed, m)
		}
	}
	g.versions.Lock()
	g.sink.Replace(source.List{Items: list}, g.allVersions())
	g.versions.Unlock()
	close(g.synced)
	g.troubles.changed() // the informer takes the first list for a sign that all is well
	for _, m := range listed {
		m.pass("")
	}
}

// waiting returns what the first sync waits for, nil if for nothing more. The caller holds
// first.
func (g *group[T]) waiting(members []*member[T]) *source.WaitingError {
	if g.waitsFor != "" {
		return &source.WaitingError{For: "the clusters of " + g.waitsFor}
	}
	var missing []string
	someListed, waits := len(members) == 0, false
	for _, m := range members {
		if m.firsts.listed {
			someListed = true
			continue
		}
		missing = append(missing, m.name)
		waits = waits || g.of.config.all || !m.health.isExcused()
	}
	if someListed && !waits {
		return nil
	}
	return &source.WaitingError{For: inWords(missing)}
}

// inWords names clusters, the first of them if there are many.
func inWords(clusters []string) string {
	if len(clusters) == 1 {
		return "cluster " + clusters[0]
	}
	return "the clusters " + someOf(clusters)
}
