package typed

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/observer"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// WithObserver adds an observer. The options of package observe use it; only this module can
// implement observers.
func WithObserver(o observer.Observer) Option {
	return func(c *config) error {
		for n, earlier := range c.observers {
			if both := o.After(earlier); both != nil {
				c.observers[n] = both
				return nil
			}
		}
		c.observers = append(c.observers, o)
		return nil
	}
}

// Observe adds observers to an existing informer, by options of package observe. It returns an
// error if one of them cannot be used or is something else, what was wrong with the arguments
// of NewInformer, and ErrStarted when Run was called.
func (i *Informer[T]) Observe(opts ...Option) error {
	if err := i.check(); err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.Phase() != report.PhaseNew {
		return fmt.Errorf("informer %s: it is not observed: %w", i.name, ErrStarted)
	}
	c := config{observers: slices.Clone(i.observers)}
	if err := argument.ApplyOptions(&c, opts); err != nil {
		return fmt.Errorf("informer %s: %w", i.name, err)
	}
	if other := c.differsIn(&config{observers: c.observers}); other != "" {
		return fmt.Errorf("informer %s: it is not observed: %s is for NewInformer", i.name, other)
	}
	if err := i.observe(c.observers); err != nil {
		return fmt.Errorf("informer %s: %w", i.name, err)
	}
	return nil
}

// observe sets the observers. Those that observe the informer already stay as they are.
func (i *Informer[T]) observe(by []observer.Observer) error {
	all := make(hooks, len(by))
	for n, o := range by {
		if n < len(i.hooks) && i.observers[n] == o {
			all[n] = i.hooks[n]
			continue
		}
		var err error
		if all[n], err = o.Observe(observed[T]{i}); err != nil {
			return err
		}
	}
	if len(all) > 0 {
		i.observers, i.hooks = by, all
	}
	return nil
}

// observed is an informer as its observers see it.
type observed[T index.Object] struct{ informer *Informer[T] }

func (o observed[T]) Name() string             { return o.informer.name }
func (o observed[T]) Origin() source.Origin    { return o.informer.located() }
func (o observed[T]) Created() report.CallSite { return o.informer.created }
func (o observed[T]) Type() reflect.Type       { return reflect.TypeFor[T]() }
func (o observed[T]) Shared() bool             { return o.informer.shared }
func (o observed[T]) Context() context.Context { return o.informer.ctx }
func (o observed[T]) IsSynced() bool           { return o.informer.isSynced() }
func (o observed[T]) Len() int                 { return o.informer.countObjects() }
func (o observed[T]) Queued() int              { return o.informer.deltas.Len() }

func (o observed[T]) EstimateHeap(sample int) report.Heap { return o.informer.EstimateHeap(sample) }

func (o observed[T]) End(cause error) { (*o.informer.ending.Load())(cause) }

func (o observed[T]) Object(key index.Key) (obj observer.Object, ok bool) {
	unlessReleased(func() { obj, ok = o.informer.store.Get(key) })
	return obj, ok
}

// hooks are those of all observers of an informer, nil if there is none.
type hooks []observer.Hooks

// each calls a function with the hooks of each observer.
func (all hooks) each(call func(h *observer.Hooks)) {
	for n := range all {
		goroutine.CallSafely(func() { call(&all[n]) })
	}
}

// around returns apply with the hooks of a batch around it. The number of its changes is read
// when it is called.
func (all hooks) around(changes *int, apply func()) func() {
	for n := range all {
		if batch := all[n].Batch; batch != nil {
			inner := apply
			apply = func() { goroutine.CallSafely(func() { batch(*changes, inner) }) }
		}
	}
	return apply
}

// handler returns the hooks of a handler.
func (all hooks) handler(name string) (of handlerHooks) {
	all.each(func(h *observer.Hooks) {
		if h.Handler != nil {
			of = append(of, h.Handler(name))
		}
	})
	return of
}

// handlerHooks are those of a handler, nil if it is not observed.
type handlerHooks []observer.HandlerHooks

// idle notes that something else than calls may take time from now on.
func (all handlerHooks) idle() {
	for n := range all {
		all[n].Idle()
	}
}

func (all handlerHooks) leave() {
	for n := range all {
		all[n].Left()
	}
}

// observedCalls returns emit, observed.
func observedCalls[T index.Object](by handlerHooks, emit func(*Event[T]) bool) func(*Event[T]) bool {
	return func(e *Event[T]) bool {
		key := e.Key()
		for n := range by {
			by[n].Begin(e.Type, key)
		}
		defer func() {
			for n := range by {
				by[n].End()
			}
		}()
		return emit(e)
	}
}

// watched is a loop as observers see it. There is one for all batches and writes, so that
// they allocate nothing.
type watched[T index.Object] struct {
	loop *loop[T]

	// A batch:
	ctx     context.Context
	deltas  []queue.Delta[T]
	size    int
	applied bool
	err     error
	apply   func() // processes the deltas, once
	around  func() // calls apply

	// A write, and the events of it:
	write   observer.Write
	changed []index.Change[T]
	listed  []T
	contact time.Time
	event   func(n int) report.Event
}

// newWatched returns nil if the informer is not observed.
func newWatched[T index.Object](l *loop[T]) *watched[T] {
	if l.informer.hooks == nil {
		return nil
	}
	w := &watched[T]{loop: l}
	w.apply = func() {
		if !w.applied {
			w.applied = true
			w.err = l.processAll(w.ctx, w.deltas)
		}
	}
	w.around = l.informer.hooks.around(&w.size, w.apply)
	w.write.Objects = w.written
	w.write.Slowest = func(obj observer.Object) (string, time.Duration) { return l.informer.store.Slowest(obj.(T)) }
	w.event = func(n int) report.Event {
		e := &l.events[n]
		return report.Event{Key: e.Key(), Type: e.Type, Reason: e.Reason, ResourceVersion: versionOf(e.New), At: w.contact}
	}
	return w
}

// batch is loop.processAll, observed.
func (w *watched[T]) batch(ctx context.Context, deltas []queue.Delta[T]) error {
	w.ctx, w.deltas, w.size, w.applied, w.err = ctx, deltas, len(deltas), false, nil
	w.around()
	w.apply() // if none has called it
	w.ctx, w.deltas = nil, nil
	return w.err
}

// storing calls the hooks before changes, or the objects of a list, are stored. The caller
// calls settled after that.
func (w *watched[T]) storing(changes []index.Change[T], list []T) (settled func()) {
	w.changed, w.listed = changes, list
	settled = func() {}
	w.loop.informer.hooks.each(func(h *observer.Hooks) {
		if h.Storing != nil {
			before, one := settled, h.Storing(&w.write)
			settled = func() {
				before()
				goroutine.CallSafely(one)
			}
		}
	})
	return settled
}

// begin returns when a write begins, and end notes how long it took. Nil does nothing.
func (w *watched[T]) begin() (began time.Time) {
	if w != nil {
		began = time.Now()
	}
	return began
}

func (w *watched[T]) end(began time.Time) {
	if w != nil {
		w.write.Took = time.Since(began)
	}
}

// stored calls the hooks after that.
func (w *watched[T]) stored(changes []index.Change[T], list []T) {
	w.changed, w.listed = changes, list
	w.loop.informer.hooks.each(func(h *observer.Hooks) {
		if h.Stored != nil {
			h.Stored(&w.write)
		}
	})
	w.changed, w.listed = nil, nil
}

// written ranges over the objects of the write.
func (w *watched[T]) written(yield func(index.Key, observer.Object) bool) {
	for n := range w.changed {
		if c := &w.changed[n]; !c.Delete {
			if key, _, ok := identify(c.Object); ok && !yield(key, c.Object) {
				return
			}
		}
	}
	for _, obj := range w.listed {
		if key, _, ok := identify(obj); ok && !yield(key, obj) {
			return
		}
	}
}

// published calls the hooks after the loop's events were published. The caller holds mu.
func (w *watched[T]) published(contact time.Time) {
	w.contact = contact
	w.loop.informer.hooks.each(func(h *observer.Hooks) {
		if h.Published != nil {
			h.Published(len(w.loop.events), w.event)
		}
	})
}

// reached calls the hooks when the store is at a version.
func (w *watched[T]) reached(version string) {
	w.loop.informer.hooks.each(func(h *observer.Hooks) {
		if h.Reached != nil {
			h.Reached(version)
		}
	})
}
