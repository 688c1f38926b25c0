package typed

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
)

// Run starts the informer and blocks until ctx ends, or until the source gives
// up. It returns nil in the first case and the source's error in the second;
// ErrStarted, at once, if it was called before; and what is wrong with the
// arguments of NewInformer.
//
// When ctx ends, handlers finish the call that they are in, and what they were
// not called for is dropped.
func (i *Informer[T]) Run(ctx context.Context) error {
	if i.err != nil {
		return i.err
	}
	ctx = klog.NewContext(ctx, klog.FromContext(ctx).WithValues("informer", i.name))
	if err := i.start(ctx); err != nil {
		return err
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	var looping sync.WaitGroup
	looping.Go(func() { (&loop[T]{Informer: i}).run(running) })
	err := i.source.Run(running, &inlet[T]{
		DeltaFIFO: i.deltas, ctx: ctx, name: i.name, transform: i.transform, health: &i.health, progress: &i.progress,
	})
	if ctx.Err() != nil {
		err = nil // it was told to stop
	}
	if err != nil {
		cancel()
	}
	looping.Wait()
	i.stop(err)
	if err != nil {
		return fmt.Errorf("informer %s: %w", i.name, err)
	}
	return nil
}

func (i *Informer[T]) start(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.phase != PhaseNew {
		return fmt.Errorf("informer %s: %w", i.name, ErrStarted)
	}
	i.phase = PhaseSyncing
	i.ctx = ctx
	i.logger().V(2).Info("Starting informer", "handlers", len(i.members))
	for _, m := range i.members {
		i.call(m)
	}
	return nil
}

// stop ends what depends on the informer, and waits for it.
func (i *Informer[T]) stop(cause error) {
	i.mu.Lock()
	i.phase = PhaseStopped
	i.cause = cause
	members := i.members
	i.members = nil
	close(i.stopped)
	i.mu.Unlock()

	for _, m := range members {
		m.end()
		m.reader.Close()
	}
	i.calling.Wait()
	if !i.keepReadable {
		i.store.Clear()
	}
	i.versions.end()
	notify(i.departures.all())
	i.logger().V(2).Info("Informer has stopped", "err", cause)
}

// loop takes deltas from the queue, applies them to the store and publishes
// the events. It is the only writer of the store. Its fields are owned by the
// goroutine that runs it.
type loop[T index.Object] struct {
	*Informer[T]

	changes []index.Change[T]
	events  []Event[T]
}

func (l *loop[T]) run(ctx context.Context) {
	defer l.deltas.Close() // lets go of a source that waits for room
	for {
		deltas, err := l.deltas.Take(ctx)
		if err != nil {
			return // ctx has ended
		}
		for len(deltas) > 0 {
			batch := deltas
			if room := l.room(); room > 0 {
				if err := l.log.WaitForRoom(ctx); err != nil {
					return
				}
				batch = deltas[:min(room, len(deltas))]
			}
			l.process(batch)
			deltas = deltas[len(batch):]
		}
	}
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
	version := ""
	for n := range deltas {
		d := &deltas[n]
		switch d.Type {
		case queue.Added, queue.Updated, queue.Deleted:
			l.changes = append(l.changes, index.Change[T]{
				Delete: d.Type == queue.Deleted, Reason: index.Watched, Object: d.Object,
			})
			if d.ResourceVersion != "" {
				version = d.ResourceVersion
			}
		case queue.Bookmark:
			if d.ResourceVersion != "" {
				version = d.ResourceVersion
			}
		case queue.Replaced:
			l.flush(version)
			version = ""
			l.replace(d.Objects, d.ResourceVersion)
			d.Objects = nil
		case queue.Resync:
			l.flush(version)
			version = ""
			l.resync()
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
			l.versions.notify(version)
		}
		return
	}
	l.mu.Lock()
	l.events = l.store.Apply(l.events[:0], l.changes, version)
	departed := concerned(&l.departures, l.events)
	l.publish()
	l.mu.Unlock()
	if version != "" {
		l.versions.notify(version)
	}
	notify(departed)
	clear(l.changes)
	l.changes = l.changes[:0]
}

// publish appends the events to the log. The caller holds mu.
func (l *loop[T]) publish() {
	if len(l.events) == 0 {
		return
	}
	l.lastEvent.Store(time.Now().UnixNano())
	l.published.Add(int64(len(l.events)))
	l.log.Append(l.events)
	clear(l.events)
}

func (l *loop[T]) replace(objs []T, version string) {
	l.mu.Lock()
	first := !l.isSynced()
	reason := index.Relisted
	if first {
		reason = index.Initial
	}
	l.events = l.store.Replace(nil, objs, version, reason)
	departed := concerned(&l.departures, l.events)
	l.publish()
	l.events = nil // it may be large
	if first {
		for _, m := range l.members {
			m.setBarrier()
		}
		l.phase = PhaseSynced
		close(l.synced)
		l.log.Wake()
		l.logger().V(2).Info("Informer has synced", "objects", l.store.Len(), "resourceVersion", version)
	}
	l.mu.Unlock()
	l.versions.notify(version)
	notify(departed)
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
