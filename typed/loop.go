package typed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
)

// loop takes deltas from the queue, applies them to the store and publishes
// the events. It is the only writer of the store. Its fields are owned by the
// goroutine that runs it.
type loop[T index.Object] struct {
	*Informer[T]

	changes []index.Change[T]
	events  []Event[T]
	kept    []index.Key // that the list which comes next is not to take out

	withheld bool // the first list was rejected as a whole

	detector *detector[T] // nil: mutations are not detected
}

func (l *loop[T]) run(ctx context.Context) {
	defer l.close()
	for {
		deltas, err := l.deltas.Take(ctx)
		if err != nil {
			return // ctx has ended
		}
		if l.metrics == nil {
			err = l.processAll(ctx, deltas)
		} else {
			err = l.measure(ctx, deltas)
		}
		if err != nil {
			return
		}
	}
}

// close lets go of a source that waits for room, and of what was not taken up.
func (l *loop[T]) close() {
	l.deltas.Close()
	for {
		if _, err := l.deltas.Take(context.Background()); err != nil {
			return // nothing is left
		}
	}
}

// measure is processAll with metrics.
func (l *loop[T]) measure(ctx context.Context, deltas []queue.Delta[T]) (err error) {
	called := false
	process := func() {
		if !called {
			called = true
			err = l.processAll(ctx, deltas)
		}
	}
	l.metrics.SetQueued(len(deltas))
	l.metrics.Process(len(deltas), process)
	process()
	l.metrics.SetQueued(l.deltas.Len())
	return err
}

// processAll applies deltas in order, as many at a time as Block handlers have
// room for. It returns an error when ctx ends.
func (l *loop[T]) processAll(ctx context.Context, deltas []queue.Delta[T]) error {
	for len(deltas) > 0 {
		batch := deltas
		if room := l.room(); room > 0 {
			if err := l.log.WaitForRoom(ctx); err != nil {
				return err
			}
			batch = deltas[:min(room, len(deltas))]
		}
		l.process(batch)
		deltas = deltas[len(batch):]
	}
	return nil
}

// room returns how many events a Block handler takes at a time, 0 if there is
// no such handler.
func (l *loop[T]) room() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.limit
}

// process applies deltas in order; changes that follow one another make one
// batch.
func (l *loop[T]) process(deltas []queue.Delta[T]) {
	l.contact.Store(time.Now().UnixNano())
	version := ""
	for n := range deltas {
		d := &deltas[n]
		switch d.Type {
		case queue.Added, queue.Updated, queue.Deleted:
			l.changes = append(l.changes, index.Change[T]{
				Delete: d.Type == queue.Deleted, Reason: index.Watched, Object: d.Object, Key: (*index.Key)(d.Scope),
			})
		case queue.Removed:
			l.changes = append(l.changes, index.Change[T]{
				Delete: true, Reason: index.ScopeRemoved, Key: (*index.Key)(d.Scope),
			})
		case queue.Kept:
			l.kept = append(l.kept, index.Key(*d.Scope))
		case queue.Bookmark:
		case queue.Replaced, queue.NamespaceReplaced, queue.NamespaceRemoved:
			l.flush(version)
			version = ""
			l.replace(d)
			d.Objects = nil
			continue
		case queue.Resync:
			l.flush(version)
			version = ""
			l.resync()
			continue
		}
		if d.ResourceVersion != "" {
			version = d.ResourceVersion
		}
	}
	l.flush(version)
}

// flush applies the changes collected so far, after which the store is at
// version, if that is not empty.
func (l *loop[T]) flush(version string) {
	if len(l.changes) == 0 {
		if version != "" {
			l.store.SetResourceVersion(version)
			l.reached(version)
		}
		return
	}
	for from := 0; from < len(l.changes); from += maxPiece {
		if to := from + maxPiece; to < len(l.changes) {
			l.applyPiece(l.changes[from:to], "")
		} else {
			l.applyPiece(l.changes[from:], version)
		}
	}
	if cap(l.changes) > maxKept {
		l.changes = nil
	}
	clear(l.changes)
	l.changes = l.changes[:0]
}

// maxKept is the number of changes up to which the memory of a batch is kept for
// the next one.
const maxKept = 16384

// maxPiece is the number of changes that are applied at a time, so that readers need
// not wait for a burst: they take less than a millisecond. The store makes as many
// in place, without copying pages.
const maxPiece = 256

// applyPiece applies some changes.
func (l *loop[T]) applyPiece(changes []index.Change[T], version string) {
	if l.detector != nil {
		defer l.detector.settle()
		for i := range changes {
			if c := &changes[i]; !c.Delete {
				l.detector.record(c.Object)
			}
		}
	}
	if panicked := l.apply(changes, version); panicked != nil {
		l.applyEach(changes, panicked, version)
	}
}

// applyEach applies changes one by one, since one of them is to blame for a
// panic. That is rejected, and the others are not lost.
func (l *loop[T]) applyEach(changes []index.Change[T], panicked any, version string) {
	for i := range changes {
		if len(changes) > 1 {
			panicked = l.apply(changes[i:i+1], "")
		}
		if c := &changes[i]; panicked != nil && c.Key == nil {
			l.reject(c.Object, panicked, false)
		}
	}
	if version != "" {
		l.store.SetResourceVersion(version)
		l.reached(version)
	}
}

// apply makes changes and publishes their events. It returns what an index
// function, or a method of an object, has panicked with, nil if none has; in the
// first case nothing has changed.
func (l *loop[T]) apply(changes []index.Change[T], version string) (panicked any) {
	applied := false
	defer utilruntime.HandleCrashWithContext(l.ctx, func(_ context.Context, p any) {
		if !applied {
			panicked = p
		}
	})
	departed := l.commit(changes, version)
	applied = true // even if what is called now panics
	if version != "" {
		l.reached(version)
	}
	notify(departed)
	if l.health.rejections.some() {
		for i := range changes {
			key := changes[i].Key
			if key == nil {
				at := index.KeyOf(changes[i].Object)
				key = &at
			}
			l.health.rejections.repair(*key, byLoop)
		}
	}
	l.notePublished()
	return nil
}

// notePublished calls what the user wants to be called after each batch.
func (l *loop[T]) notePublished() {
	if l.onPublished != nil {
		l.onPublished()
	}
}

func (l *loop[T]) commit(changes []index.Change[T], version string) (departed []*departureWaiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = l.store.Apply(l.events[:0], changes, version)
	departed = concerned(&l.departures, l.events)
	changed := len(l.events) > 0
	l.publish()
	if changed && l.withheld {
		l.sync()
	}
	return departed
}

// reached tells that the store is at version.
func (l *loop[T]) reached(version string) {
	l.versions.notify(version)
	if l.metrics != nil {
		l.metrics.SetResourceVersion(version)
	}
}

// publish appends the events to the log. The caller holds mu.
func (l *loop[T]) publish() {
	if len(l.events) == 0 {
		return
	}
	l.lastEvent.Store(l.contact.Load())
	l.published.Add(int64(len(l.events)))
	l.log.Append(l.events)
	clear(l.events)
}

// errPanicked tells why an informer has not taken up a list.
var errPanicked = errors.New("the list was not stored: an index function, or a method of an object, has panicked")

// replace makes the objects of a delta the content of the store, or of a
// namespace, and publishes the events. Objects for which an index function panics
// are left out; if there are no others in the first list, the informer is not synced
// by it.
func (l *loop[T]) replace(d *queue.Delta[T]) {
	l.keep(d)
	if l.detector != nil {
		defer l.detector.settle()
		for _, obj := range d.Objects {
			l.detector.record(obj)
		}
	}
	if l.tryReplace(d) {
		return
	}
	rejected, left := l.leaveOut(d)
	if rejected > 0 && !left && d.Type == queue.Replaced && !l.isSynced() {
		l.withheld = true
		l.health.withhold(fmt.Errorf("all %d objects of the first list were rejected, such as: %w", rejected, l.health.rejections.lastOne()))
		return
	}
	if rejected == 0 || !l.tryReplace(d) {
		l.health.report(l.ctx, l.name, errPanicked)
	}
}

// tryReplace does the same, but for panics: it reports whether there was none, and
// otherwise nothing has changed.
func (l *loop[T]) tryReplace(d *queue.Delta[T]) (done bool) {
	defer utilruntime.HandleCrashWithContext(l.ctx)
	first := d.Type == queue.Replaced && !l.isSynced()
	departed := l.commitAll(d, first)
	done = true // even if what is called now panics
	if first {
		l.logger().V(2).Info("Informer has synced", "objects", l.store.Len(), "resourceVersion", d.ResourceVersion)
	}
	if d.ResourceVersion != "" || d.Type == queue.Replaced {
		l.reached(d.ResourceVersion)
	}
	notify(departed)
	if l.health.rejections.some() {
		var namespace *string
		if d.Scope != nil {
			namespace = &d.Scope.Namespace
		}
		l.health.rejections.repairAll(namespace, byLoop)
	}
	l.notePublished()
	return done
}

// keep adds to a list what the store has of the objects that were rejected, since
// that is no deletion.
func (l *loop[T]) keep(d *queue.Delta[T]) {
	if len(l.kept) == 0 {
		return
	}
	listed := make(map[index.Key]bool, len(d.Objects))
	for _, obj := range d.Objects {
		if key, _, ok := identify(obj); ok {
			listed[key] = true
		}
	}
	l.kept = slices.DeleteFunc(l.kept, func(key index.Key) bool {
		if d.Scope != nil && d.Scope.Namespace != key.Namespace {
			return false
		}
		if obj, ok := l.store.Get(key); ok && !listed[key] {
			d.Objects = append(d.Objects, obj)
		}
		return true
	})
}

func (l *loop[T]) commitAll(d *queue.Delta[T], first bool) (departed []*departureWaiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case first:
		l.events = l.store.Replace(nil, d.Objects, d.ResourceVersion, index.Initial)
	case d.Type == queue.Replaced:
		l.relists.Add(1)
		l.events = l.store.Replace(nil, d.Objects, d.ResourceVersion, index.Relisted)
	case d.Type == queue.NamespaceReplaced:
		l.events = l.store.ReplaceNamespace(nil, d.Scope.Namespace, d.Objects, d.ResourceVersion, index.Relisted)
	case d.Type == queue.NamespaceRemoved:
		l.events = l.store.ReplaceNamespace(nil, d.Scope.Namespace, nil, d.ResourceVersion, index.ScopeRemoved)
	}
	departed = concerned(&l.departures, l.events)
	l.publish()
	l.events = nil // it may be large
	if first {
		l.sync()
	}
	return departed
}

// sync notes that the store holds the first list. The caller holds mu.
func (l *loop[T]) sync() {
	l.withheld = false
	l.health.withhold(nil)
	for _, m := range l.members.all() {
		m.setBarrier()
	}
	l.setPhase(PhaseSynced)
	close(l.synced)
	l.log.Wake()
}

// resync publishes an update of every object.
func (l *loop[T]) resync() {
	l.mu.Lock()
	defer l.mu.Unlock()
	events := make([]Event[T], 0, l.store.Len())
	for obj := range l.store.All() {
		events = append(events, Event[T]{Type: index.Updated, Reason: index.Resynced, Old: obj, New: obj})
	}
	l.log.Append(events)
}
