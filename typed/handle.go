package typed

import (
	"context"
	"fmt"
	"math"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/eventlog"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/timing"
	"github.com/kubetyped/informer/typed/report"
)

// Handle adds a handler, which is then called as Handler describes. It may be called at any
// time, including from a handler. It returns an error if the handler is nil or a nil pointer, or an
// option cannot be used, or the source is known to leave out what the handler needs, see Needs; and
// ErrStopped when the informer has stopped.
func (i *Informer[T]) Handle(handler Handler[T], opts ...HandlerOption) (*Registration, error) {
	name, err := Describe(handler)
	if err == nil {
		err = i.checkNeeds(Needs(handler))
	}
	if err != nil {
		return nil, fmt.Errorf("informer %s: handler not added: %w", i.name, err)
	}
	l, err := i.newListener(handler, name, opts)
	if err != nil {
		return nil, err
	}
	if err := i.add(l); err != nil {
		return nil, err
	}
	if err := i.checkNeeds(Needs(handler)); err != nil { // a source was opened meanwhile
		l.registration.Remove() // without waiting for it: it may wait for the caller
		return nil, fmt.Errorf("informer %s: handler not added: %w", i.name, err)
	}
	return l.registration, nil
}

// newListener returns a listener that is not added yet. The name is that of the
// handler, unless an option says something else.
func (i *Informer[T]) newListener(handler Handler[T], name string, opts []HandlerOption) (*listener[T], error) {
	if err := i.check(); err != nil {
		return nil, err
	}
	c := handlerConfig{name: name}
	for _, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("informer %s: handler not added: option is nil", i.name)
		}
		if err := opt(&c); err != nil {
			return nil, fmt.Errorf("informer %s: handler %s not added: %w", i.name, c.name, err)
		}
	}
	l := &listener[T]{handler: handler}
	l.registration = newRegistration(c.name, c.delivery, i)
	l.registration.listener = l
	l.tasks = newTaskQueue[T]()
	l.period, l.jitter, l.onSynced = c.resync, c.jitter, c.onSynced
	l.atHead = func(note func(*index.Snapshot[T], uint64)) {
		i.mu.Lock()
		defer i.mu.Unlock()
		if !i.released.Load() {
			note(i.store.Snapshot(), l.events.Head())
		}
	}
	return l, nil
}

// add adds l: from now on it gets every event, after the objects that are there. The lock keeps events from being published in between.
func (i *Informer[T]) add(l *listener[T]) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.Phase() == report.PhaseStopped {
		return fmt.Errorf("informer %s: handler %s not added: %w", i.name, l.registration.name, ErrStopped)
	}
	if l.registration.delivery.kind == coalesce {
		c := eventlog.NewCoalescer(i.log, mergeEvents[T])
		l.fill = func() (*index.Snapshot[T], filling[T]) {
			i.mu.Lock()
			defer i.mu.Unlock()
			if i.released.Load() {
				return nil, nil
			}
			return i.store.Snapshot(), c.Fill()
		}
		l.events = c
	} else {
		l.cursor = i.log.NewCursor(l.registration.delivery.limit)
		l.events = l.cursor
	}
	l.registration.reader = l.events
	if i.Phase() != report.PhaseNew && i.store.Len() > 0 {
		l.initial = i.store.Snapshot()
	}
	if i.isSynced() {
		l.syncAfterThis()
	}
	i.handled++
	l.registration.number = i.handled
	i.listeners.add(l)
	i.setLimit()
	if i.Phase() != report.PhaseNew {
		i.call(l)
	}
	return nil
}

// call starts the goroutine that calls l's handler. The caller holds mu.
func (i *Informer[T]) call(l *listener[T]) {
	if l.handler == nil {
		return
	}
	ctx := i.ctx
	l.registration.calling, l.random = true, timing.RandomFrom(ctx)
	i.calling.Go(func() {
		defer l.registration.finish()
		defer utilruntime.HandleCrashWithContext(ctx)
		returned := false
		defer func() {
			if !returned { // runtime.Goexit, or a panic that ends the program
				i.exited(ctx, l)
			}
		}()
		l.registration.goroutine.Store(goroutine.ID())
		c := caller[T]{listener: l, ctx: ctx, panicked: []func(context.Context, any){l.panics.note}}
		if by := i.hooks.handler(l.registration.name); by != nil {
			l.hooks.Store(&by)
			defer by.leave()
			l.run(observedCalls(by, c.call), nil)
		} else {
			l.run(c.call, c.callAll)
		}
		returned = true
	})
}

// exited removes a handler whose goroutine has ended in a call of it. Otherwise
// events would be kept for it, and the source would wait for it if it has the policy
// Block.
func (i *Informer[T]) exited(ctx context.Context, l *listener[T]) {
	l.registration.exited.Store(true)
	l.registration.end()
	i.leave(l.registration)
	l.registration.reader.Close()
	utilruntime.HandleErrorWithContext(ctx, ErrExited, "A handler is removed", "informer", i.name, "handler", l.registration.name)
}

// leave implements registrar.
func (i *Informer[T]) leave(r *Registration) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.listeners.remove(func(l *listener[T]) bool { return l.registration == r })
	i.setLimit()
	return r.calling
}

// betweenSteps implements registrar.
func (i *Informer[T]) betweenSteps(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f()
}

// setLimit makes the source wait for the Block handler with the least room, if
// there is one. The caller holds mu.
func (i *Informer[T]) setLimit() {
	limit := 0
	for _, l := range i.listeners.all() {
		if n := l.registration.delivery.limit; n > 0 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	i.limit.Store(int32(min(limit, math.MaxInt32)))
	i.deltas.SetLimit(limit)
}
