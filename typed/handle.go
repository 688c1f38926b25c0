package typed

import (
	"context"
	"errors"
	"fmt"
	"iter"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/eventlog"
)

// Handle adds a handler, which is then called as Handler describes. It may be
// called at any time, also from a handler. It returns an error if the handler
// is nil or an option cannot be used, and ErrStopped when the informer has
// stopped.
func (i *Informer[T]) Handle(handler Handler[T], opts ...HandlerOption) (*Registration, error) {
	name, err := Describe(handler)
	if err != nil {
		return nil, fmt.Errorf("informer %s: handler not added: %w", i.name, err)
	}
	m, err := i.newMember(handler, name, opts)
	if err != nil {
		return nil, err
	}
	if err := i.join(m); err != nil {
		return nil, err
	}
	return m.Registration, nil
}

// Events returns the events of the informer as a range: what a handler would
// get, from the goroutine that ranges. It takes the options of a handler. The
// range ends when ctx ends, the informer stops, or the loop is left; each range
// over it begins anew, with the objects that are there.
//
// If an option cannot be used, that is reported by utilruntime.HandleError, and
// the range is empty.
func (i *Informer[T]) Events(ctx context.Context, opts ...HandlerOption) iter.Seq[Event[T]] {
	return func(yield func(Event[T]) bool) {
		if ctx.Err() != nil {
			return
		}
		m, err := i.newMember(nil, "events", opts)
		if err == nil {
			err = i.join(m)
		}
		if err != nil {
			if !errors.Is(err, ErrStopped) && !errors.Is(err, ErrReleased) {
				utilruntime.HandleErrorWithContext(ctx, err, "Cannot range over events")
			}
			return
		}
		defer m.Close()
		defer context.AfterFunc(ctx, m.end)() // wakes the feed
		m.run(func(e *Event[T]) bool { return ctx.Err() == nil && yield(*e) })
	}
}

// newMember returns a member that has not joined yet. The name is that of the
// handler, unless an option says something else.
func (i *Informer[T]) newMember(handler Handler[T], name string, opts []HandlerOption) (*member[T], error) {
	if err := i.check(); err != nil {
		return nil, err
	}
	c := handlerConfig{name: name}
	for _, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("informer %s: handler not added: an option is nil", i.name)
		}
		if err := opt(&c); err != nil {
			return nil, fmt.Errorf("informer %s: handler %s not added: %w", i.name, c.name, err)
		}
	}
	m := &member[T]{handler: handler}
	m.Registration = newRegistration(c.name, c.delivery, i)
	m.schedule = m
	m.marks = newMarks[T]()
	m.period, m.jitter, m.onSynced = c.resync, c.jitter, c.onSynced
	m.state = func() (*index.Snapshot[T], uint64) {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.released.Load() {
			return nil, 0
		}
		return i.store.Snapshot(), m.events.Head()
	}
	return m, nil
}

// join makes m a member: from now on it gets every event, after the objects
// that are there. The lock keeps events from being published in between.
func (i *Informer[T]) join(m *member[T]) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.Phase() == PhaseStopped {
		return fmt.Errorf("informer %s: handler %s not added: %w", i.name, m.name, ErrStopped)
	}
	if m.delivery.kind == coalesce {
		c := eventlog.NewCoalescer(i.log, Event[T].Key, mergeEvents[T])
		m.fill = func() (*index.Snapshot[T], filling[T]) {
			i.mu.Lock()
			defer i.mu.Unlock()
			if i.released.Load() {
				return nil, nil
			}
			return i.store.Snapshot(), c.Fill()
		}
		m.events = c
	} else {
		m.events = i.log.NewCursor(m.delivery.limit)
	}
	m.reader = m.events
	if i.Phase() != PhaseNew && i.store.Len() > 0 {
		m.joined = i.store.Snapshot()
	}
	if i.isSynced() {
		m.setBarrier()
	}
	i.members.add(m)
	i.setLimit()
	if i.Phase() != PhaseNew {
		i.call(m)
	}
	return nil
}

// call starts the goroutine that calls m's handler. The caller holds mu.
func (i *Informer[T]) call(m *member[T]) {
	if m.handler == nil {
		return
	}
	ctx := i.ctx
	m.calling = true
	i.calling.Go(func() {
		defer m.finish()
		returned := false
		defer func() {
			if !returned { // runtime.Goexit, or a panic that ends the program
				i.exited(ctx, m)
			}
		}()
		m.goroutine.Store(goroutineID())
		m.run(func(e *Event[T]) (next bool) {
			next = true // also after a panic
			defer utilruntime.HandleCrashWithContext(ctx)
			dispatch(m.handler, e)
			return
		})
		returned = true
	})
}

// exited removes a handler whose goroutine has ended in a call of it. Otherwise
// events would be kept for it, and the source would wait for it if it has the policy
// Block.
func (i *Informer[T]) exited(ctx context.Context, m *member[T]) {
	m.exited.Store(true)
	m.end()
	i.leave(m.Registration)
	m.reader.Close()
	utilruntime.HandleErrorWithContext(ctx, ErrExited, "A handler is removed", "informer", i.name, "handler", m.name)
}

// leave implements membership.
func (i *Informer[T]) leave(r *Registration) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.members.remove(r)
	i.setLimit()
	return r.calling
}

// setLimit makes the source wait for the Block handler with the least room, if
// there is one. The caller holds mu.
func (i *Informer[T]) setLimit() {
	i.limit = 0
	for _, m := range i.members.all() {
		if n := m.delivery.limit; n > 0 && (i.limit == 0 || n < i.limit) {
			i.limit = n
		}
	}
	i.deltas.SetLimit(i.limit)
}
