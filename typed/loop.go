package typed

import (
	"context"
	"errors"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/report"
)

// loop takes deltas from the queue, applies them to the store and publishes
// the events. It is the only writer of the store. Its fields are owned by the
// goroutine that runs it.
type loop[T index.Object] struct {
	informer *Informer[T]

	changes []index.Change[T]
	events  []Event[T]

	watched *watched[T] // nil: not observed

	withheld bool                   // the first list was rejected as a whole
	missing  map[index.Key]struct{} // the objects of that list, until they are gone; rejections may be ahead of the loop
	unstored []func()               // Done of lists that were withheld
	known    bool                   // the next panic is one that was reported
	crashes  bool                   // a panic is ending the goroutine
}

func (l *loop[T]) run(ctx context.Context) {
	defer l.close()
	returned := false
	defer func() {
		if !returned && !l.crashes {
			(*l.informer.ending.Load())(errLoopExited)
		}
	}()
	defer utilruntime.HandleCrashWithContext(l.informer.ctx, l.crashed)
	l.informer.looping.Store(goroutine.ID())
	l.watched = newWatched(l)
	for batches := uint64(1); ; batches++ {
		deltas, err := l.informer.deltas.Take(ctx)
		if err != nil {
			returned = true // ctx has ended
			return
		}
		if l.watched == nil {
			err = l.processAll(ctx, deltas)
		} else {
			err = l.watched.batch(ctx, deltas)
		}
		if err != nil {
			returned = true
			return
		}
		l.informer.byKey.consume(batches)
	}
}

// errLoopExited ends an informer whose goroutine a user's function has ended.
var errLoopExited = errors.New("an index function, or a method of an object, has ended the informer's goroutine, by runtime.Goexit")

// close releases a source that waits for room, and drops the deltas that were not applied.
func (l *loop[T]) close() {
	l.informer.deltas.Close()
	for {
		if _, err := l.informer.deltas.Take(context.Background()); err != nil {
			return // nothing is left
		}
	}
}

// processAll applies deltas in order, as many at a time as Block handlers have
// room for. It returns an error when ctx ends.
func (l *loop[T]) processAll(ctx context.Context, deltas []queue.Delta[T]) error {
	for len(deltas) > 0 {
		batch := deltas
		if room := int(l.informer.limit.Load()); room > 0 {
			if err := l.informer.log.WaitForRoom(ctx); err != nil {
				return err
			}
			batch = deltas[:min(room, len(deltas))]
		}
		l.process(batch)
		deltas = deltas[len(batch):]
	}
	return nil
}

// process applies deltas in order; changes that follow one another are applied in pieces.
func (l *loop[T]) process(deltas []queue.Delta[T]) {
	l.informer.contact.Store(time.Now().UnixNano())
	version := ""
	for n := range deltas {
		d := &deltas[n]
		switch d.Type {
		case queue.Put, queue.Delete, queue.Remove:
			if len(l.changes) == maxPiece {
				l.flush(version)
				version = ""
			}
			l.collect(d)
		case queue.Bookmark:
		case queue.Replace:
			l.flush(version)
			version = ""
			l.replace(d.List, d.Reason, d.ResourceVersion)
			d.List = nil
			continue
		case queue.Step:
			l.flush(version)
			version = ""
			l.step(d.List, d.ResourceVersion)
			d.List = nil
			continue
		}
		if d.ResourceVersion != "" {
			version = d.ResourceVersion
		}
	}
	l.flush(version)
}

// collect notes a change of an object, to be applied with those that follow.
func (l *loop[T]) collect(d *queue.Delta[T]) {
	reason := d.Reason
	switch {
	case reason != 0:
	case d.Type == queue.Remove:
		reason = index.OutOfScope
	default:
		reason = index.Watched
	}
	c := index.Change[T]{Delete: d.Type != queue.Put, Reason: reason, Object: d.Object, Key: d.Key}
	if d.List != nil {
		c.UID = d.List.UID
	}
	l.changes = append(l.changes, c)
}

// flush applies the changes collected so far, together, after which the store is at
// version, if that is not empty.
func (l *loop[T]) flush(version string) {
	if len(l.changes) == 0 {
		if version != "" {
			l.bookmark(version)
		}
		return
	}
	l.applyPiece(l.changes, version)
	if cap(l.changes) > maxKept {
		l.changes, l.events = nil, nil
	}
	clear(l.changes)
	l.changes = l.changes[:0]
}

// maxKept is the number of changes up to which the memory of a step, and of its events, is kept
// for the next one.
const maxKept = 16384

// maxPiece is the number of changes that are applied at a time, so that readers need not wait
// for a burst: one piece takes less than a millisecond. The store makes so many changes in
// place, without copying pages. The changes collected by then are still in the processor's
// caches.
const maxPiece = 256

// applyPiece applies some changes.
func (l *loop[T]) applyPiece(changes []index.Change[T], version string) {
	if l.watched != nil {
		defer l.watched.storing(changes, nil)()
	}
	if panicked := l.apply(changes, version); panicked != nil {
		l.applyOthers(changes, panicked, version)
	}
}

// applyEach applies changes one by one, since one of them is to blame for a
// panic. That is rejected, and the others are not lost.
func (l *loop[T]) applyEach(changes []index.Change[T], panicked any, version string) {
	l.known = len(changes) > 1
	defer func() { l.known = false }()
	for i := range changes {
		if len(changes) > 1 {
			panicked = l.apply(changes[i:i+1], "")
		}
		if c := &changes[i]; panicked != nil && c.Key == nil {
			l.reject(c.Object, panicked, false)
		}
	}
	if version != "" {
		l.bookmark(version)
	}
}

// apply makes changes and publishes their events. It returns what an index
// function, or a method of an object, has panicked with, nil if none has; in the
// first case nothing has changed.
func (l *loop[T]) apply(changes []index.Change[T], version string) (panicked any) {
	applied := false
	defer func() {
		if p := recover(); p != nil {
			if !applied {
				panicked = p
			}
			l.report(p)
		}
	}()
	waiters := l.commit(changes, version)
	applied = true // even if what is called now panics
	if l.watched != nil {
		l.watched.stored(changes, nil)
	}
	if version != "" {
		l.reached(version)
	}
	notify(waiters)
	if l.withheld || l.informer.health.rejections.some() {
		for i := range changes {
			if changes[i].UID != nil {
				continue // it may be about another object than the one that was rejected
			}
			key := changes[i].Key
			if key == nil {
				at := index.KeyOf(changes[i].Object)
				key = &at
			}
			l.informer.health.rejections.repair(*key, byLoop)
			delete(l.missing, *key)
		}
		l.syncIfRepaired()
	}
	return nil
}

// syncIfRepaired ends the wait for an object that can be used, if those of the first list
// that could not are gone.
func (l *loop[T]) syncIfRepaired() {
	if !l.withheld || len(l.missing) > 0 || l.informer.health.rejections.some() {
		return
	}
	l.informer.mu.Lock()
	defer l.informer.mu.Unlock()
	l.sync()
}

func (l *loop[T]) commit(changes []index.Change[T], version string) []*deletionWaiter {
	l.informer.mu.Lock()
	defer l.informer.mu.Unlock()
	began := l.watched.begin()
	l.events = l.informer.store.Apply(l.events[:0], changes, version)
	l.watched.end(began)
	waiters := waitersFor(&l.informer.deletions, l.events)
	noteChanged(&l.informer.byKey, l.events)
	changed := len(l.events) > 0
	l.publish(version)
	if changed && l.withheld {
		l.sync()
	}
	return waiters
}

// bookmark notes that all changes up to version have been applied.
func (l *loop[T]) bookmark(version string) {
	l.informer.store.SetResourceVersion(version)
	l.notifyFollowers(version)
	l.reached(version)
}

// notifyFollowers reports to followers a version that the store has reached without events.
func (l *loop[T]) notifyFollowers(version string) {
	if l.informer.followers.list.some() {
		l.informer.mu.Lock()
		defer l.informer.mu.Unlock()
		l.informer.followers.step(nil, version)
	}
}

// reached notifies waiters and observers that the store is at version.
func (l *loop[T]) reached(version string) {
	l.informer.versions.notify(version)
	if l.watched != nil {
		l.watched.reached(version)
	}
}

// publish appends the events to the log, now that the store is at version, if that is
// not empty. The caller holds mu.
func (l *loop[T]) publish(version string) {
	if l.informer.followers.list.some() {
		l.informer.followers.step(l.events, version)
	}
	if len(l.events) == 0 {
		return
	}
	contact := l.informer.contact.Load()
	if l.watched != nil {
		l.watched.published(time.Unix(0, contact))
	}
	l.informer.lastEvent.Store(contact)
	l.informer.published.Add(int64(len(l.events)))
	l.informer.log.Append(l.events)
	clear(l.events)
}

// sync notes that the store holds the first list. The caller holds mu.
func (l *loop[T]) sync() {
	if l.withheld {
		l.informer.followers.report(l.informer.health.failure())
	}
	l.withheld, l.missing = false, nil
	for _, done := range l.unstored {
		goroutine.CallSafely(done)
	}
	l.unstored = nil
	l.informer.health.withhold(nil)
	for _, m := range l.informer.listeners.all() {
		m.syncAfterThis()
	}
	l.informer.setPhase(report.PhaseSynced)
	close(l.informer.synced)
	l.informer.followers.synced()
}
