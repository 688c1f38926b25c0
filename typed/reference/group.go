package reference

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/typed/source"
)

// group is the keys of a source that runs, whose reports it brings into one order. The lock
// is held through each report of objects, so that the version that comes with it is the one
// that is reached by it and all before it. Reports of failures call functions of the user's,
// so they are queued under the lock, and made in that order when it is free, see flush.
type group[T index.Object] struct {
	*keys[T]

	sink      source.Sink[T]
	ctx       context.Context
	cancel    context.CancelFunc
	followers sync.WaitGroup

	order   monitor.LongLock
	sinks   map[*entry[T]]*keySink[T] // guarded by order
	failing map[*keySink[T]]error     // guarded by order
	synced  bool                      // guarded by order: the first Replace was reported
	over    bool                      // guarded by order
	version string                    // guarded by order; that was reported last
	exact   bool                      // guarded by order: version is the lowest of all
	changed sync.Cond                 // on order: synced, over, or some sink's removed has changed
	pending monitor.Reports           // guarded by order: for Sink.Report
}

func newGroup[T index.Object](ctx context.Context, s *keys[T], sink source.Sink[T]) *group[T] {
	g := &group[T]{keys: s, sink: sink, order: monitor.NewLongLock(), sinks: map[*entry[T]]*keySink[T]{}, failing: map[*keySink[T]]error{}}
	g.ctx, g.cancel = context.WithCancel(ctx)
	g.changed.L = g.order
	return g
}

// step begins to follow the keys that are new, and ends that for those that are gone.
func (g *group[T]) step(first bool) {
	g.mu.Lock()
	todo := g.todo
	g.todo = nil
	if first {
		todo = slices.Collect(maps.Values(g.all))
	}
	gone := make([]bool, len(todo))
	for i, e := range todo {
		gone[i] = e.gone
	}
	g.mu.Unlock()

	defer g.flush()
	g.order.Lock()
	defer g.order.Unlock()
	for i, e := range todo {
		switch k := g.sinks[e]; {
		case gone[i] && k != nil:
			g.remove(k)
		case !gone[i] && k == nil:
			k = &keySink[T]{group: g, entry: e, initial: first, state: State{Phase: Pending}}
			k.ctx, k.cancel = context.WithCancel(g.ctx)
			g.sinks[e] = k
			g.followers.Go(k.follow)
		}
	}
	g.syncIfAnswered()
}

// end ends all keys, and waits for them.
func (g *group[T]) end() {
	g.order.Lock()
	g.over = true
	g.changed.Broadcast()
	g.order.Unlock()
	g.cancel()
	g.followers.Wait()
}

// flush makes the reports that are queued, in their order. The caller does not hold the lock.
func (g *group[T]) flush() { g.pending.Make(g.order, g.sink.Report) }

// remove takes a key out, whose object is out of scope then. The caller holds the lock, and
// calls flush.
func (g *group[T]) remove(k *keySink[T]) {
	k.removed, k.first, k.unconfirmed = true, nil, nil
	delete(g.sinks, k.entry)
	k.cancel()
	g.changed.Broadcast()
	if g.synced {
		at := g.advance()
		if k.there {
			g.sink.Step([]index.Change[T]{{Delete: true, Key: &k.entry.key, Reason: index.OutOfScope}}, at, nil)
		} else if at != "" {
			g.sink.Step(nil, at, nil)
		}
	}
	if k.err != nil {
		k.works()
	}
}

// syncIfAnswered makes the first report, when all keys that were held at the start have an
// answer. The caller holds the lock, and calls flush.
func (g *group[T]) syncIfAnswered() {
	if g.synced || g.over {
		return
	}
	for _, k := range g.sinks {
		if k.initial && !k.state.known() {
			return
		}
	}
	g.synced = true
	var l source.List
	for _, k := range g.sinks {
		l.Items = append(l.Items, k.first...)
		k.first = nil
	}
	g.sink.Replace(l, g.advance())
	for _, k := range g.sinks {
		k.setVersion()
		if k.state.known() {
			k.publish()
		}
		for _, done := range k.unconfirmed {
			g.sink.Step(nil, "", done)
		}
		k.unconfirmed = nil
	}
	for _, err := range g.failing { // the list is taken for a success
		g.pending.Add(err)
	}
	g.changed.Broadcast()
}

// advance returns the version that all watches have reached, "" if it is the one that was
// reported last, or not known, as with versions that cannot be compared. The caller holds the
// lock.
func (g *group[T]) advance() string {
	g.exact = false
	lowest := ""
	for _, k := range g.sinks {
		switch {
		case k.finished || k.state.Phase == Refused && !k.listed:
			continue // it has no watch
		case !k.listed || k.version == "":
			return ""
		case lowest == "":
			lowest = k.version
			continue
		}
		order, err := resourceversion.CompareResourceVersion(k.version, lowest)
		if err != nil {
			return ""
		}
		if order < 0 {
			lowest = k.version
		}
	}
	if lowest == "" || lowest == g.version {
		g.exact = lowest != ""
		return ""
	}
	g.version, g.exact = lowest, true
	return lowest
}

// isOlder reports whether a version is known to be lower than another one.
func isOlder(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order < 0
}

// floorNow returns the version that no first list may be older than, "" for any.
func (s *keys[T]) floorNow() string {
	if floor := s.floor.Load(); floor != nil {
		return *floor
	}
	return ""
}

// raise notes that a watch has reached a version. The caller holds the group's lock.
func (s *keys[T]) raise(version string) {
	if floor := s.floorNow(); floor == "" || isOlder(floor, version) {
		if _, err := resourceversion.CompareResourceVersion(version, version); err == nil {
			s.floor.Store(&version)
		}
	}
}

// errNoList is why a key is refused whose source has ended too soon.
var errNoList = errors.New("source has ended without a list")
