package ctrlruntime

import (
	"context"
	"errors"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

var errNotServed = errors.New("the kind is not served")

// gate is how a kind is listed and watched that may go: while the server does not have the kind,
// there are no objects, and no events. So an informer reports deletions to its handlers,
// and lives until the kind is served again, and after.
type gate struct {
	of     toolscache.ListerWatcher
	missed func(error) // called when a request has found no such resource, or may not list it before it ever has; it does not wait

	mu      sync.Mutex
	closed  bool             // guarded by mu; the kind is not served
	listed  bool             // guarded by mu; a request has succeeded
	version string           // guarded by mu; of the last list
	idle    []idleWatch      // guarded by mu; the watches since it was closed
	empty   sets.Set[string] // guarded by mu; of the namespaces of a set, "" for all, those listed last while it was closed
}

// listerWatcher returns what an informer lists and watches by.
func (g *gate) listerWatcher() toolscache.ListerWatcher {
	return toolscache.ToListWatcherWithWatchListSemantics(&toolscache.ListWatch{ListWithContextFunc: g.list, WatchFuncWithContext: g.watch}, g.of)
}

// set opens the gate, or closes it.
func (g *gate) set(closed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed == closed {
		return
	}
	g.closed = closed
	for _, w := range g.idle { // the Reflector lists again
		w <- watch.Event{Type: watch.Error, Object: &apierrors.NewResourceExpired("the kind is served again").ErrStatus}
		close(w)
	}
	g.idle = nil
}

func (g *gate) list(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	if list, err := g.listNothing(ctx, opts.Continue != ""); list != nil || err != nil {
		return list, err
	}
	list, err := toolscache.ToListerWatcherWithContext(g.of).ListWithContext(ctx, opts)
	g.note(ctx, err, true)
	if accessor, wrong := meta.ListAccessor(list); err == nil && wrong == nil {
		g.mu.Lock()
		g.version = accessor.GetResourceVersion()
		g.mu.Unlock()
	}
	return list, err
}

func (g *gate) watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	streams := opts.SendInitialEvents != nil
	if w, err := g.watchNothing(ctx, streams); w != nil || err != nil {
		return w, err
	}
	w, err := toolscache.ToListerWatcherWithContext(g.of).WatchWithContext(ctx, opts)
	g.note(ctx, err, streams)
	if w == nil || err != nil {
		return nil, err
	}
	return drainedWatch{w}, nil
}

// listNothing returns a list without objects if the gate is closed. Of a list in pages that has
// begun before, it returns an error, after which the Reflector lists everything again.
func (g *gate) listNothing(ctx context.Context, continues bool) (runtime.Object, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case !g.closed:
		return nil, nil
	case continues:
		return nil, apierrors.NewResourceExpired("the kind has gone while it was listed")
	}
	if g.empty == nil {
		g.empty = sets.Set[string]{}
	}
	g.empty.Insert(namespaceIn(ctx))
	return &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: g.version}}, nil
}

// watchNothing returns a watch without events if the gate is closed. A list is not streamed
// then. It returns an error, after which the Reflector lists again, if the gate has been opened
// or closed since the last list.
func (g *gate) watchNothing(ctx context.Context, streams bool) (watch.Interface, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case streams && g.closed:
		return nil, errNotServed
	case streams:
		return nil, nil
	case g.closed != g.empty.Has(namespaceIn(ctx)):
		return nil, apierrors.NewResourceExpired("the kind has come or gone since it was listed")
	case !g.closed:
		return nil, nil
	}
	w := make(idleWatch, 1)
	g.idle = append(g.idle, w)
	return w, nil
}

// note notes how a request has ended, and whether it was for a list.
func (g *gate) note(ctx context.Context, err error, lists bool) {
	if err == nil {
		g.mu.Lock()
		g.listed = true
		if lists {
			g.empty.Delete(namespaceIn(ctx))
		}
		g.mu.Unlock()
	}
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) && !g.hasListed() {
		g.missed(err)
	}
}

// idleWatch is a watch without events but the last one.
type idleWatch chan watch.Event

// ResultChan implements watch.Interface.
func (w idleWatch) ResultChan() <-chan watch.Event { return w }

// Stop implements watch.Interface. It is not read after that.
func (idleWatch) Stop() {}

// hasListed reports whether a list, which may be streamed, has begun.
func (g *gate) hasListed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.listed
}

// drainedWatch is a watch whose events are read to the end after it was stopped: those of
// metadata pass a goroutine that otherwise waits for ever to hand on one more.
type drainedWatch struct{ watch.Interface }

// Stop implements watch.Interface.
func (w drainedWatch) Stop() {
	w.Interface.Stop()
	go func() {
		for range w.ResultChan() {
		}
	}()
}
