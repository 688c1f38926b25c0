package conformance

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
)

// gate stands between an informer and its client, and keeps the informer away
// from the server while it is shut. It is open at first.
type gate struct {
	mu      sync.Mutex
	shut    chan struct{} // guarded by mu, closed when the gate opens. If nil, the gate is open
	expired bool          // guarded by mu; the version that the informer has is not to be had any more
	ending  chan struct{} // guarded by mu, closed to end the watches that have begun since. If nil, none has begun
	lists   int           // guarded by mu; how many there were
	watches int           // guarded by mu; how many there were

	relays sync.WaitGroup
}

// cut ends the watches, as a server does.
func (g *gate) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ending != nil {
		close(g.ending)
		g.ending = nil
	}
}

// wait waits until no watch is left.
func (g *gate) wait() { g.relays.Wait() }

// close ends the watches and holds requests up.
func (g *gate) close() {
	g.mu.Lock()
	g.shut = make(chan struct{})
	g.mu.Unlock()
	g.cut()
}

// open lets requests pass again. If expired, a watch that continues from an earlier version is
// refused, as by a server that has compacted that version.
func (g *gate) open(expired bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expired = expired
	close(g.shut)
	g.shut = nil
}

// counts returns how many lists and watches have passed.
func (g *gate) counts() (lists, watches int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lists, g.watches
}

// pass waits until the gate is open, and calls note, with the lock held, before it
// can be shut again.
func (g *gate) pass(ctx context.Context, note func()) error {
	for {
		g.mu.Lock()
		shut := g.shut
		if shut == nil {
			note()
		}
		g.mu.Unlock()
		if shut == nil {
			return nil
		}
		select {
		case <-shut:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (g *gate) passList(ctx context.Context) error {
	return g.pass(ctx, func() {
		g.lists++
		g.expired = false
	})
}

// admitWatch waits until a watch may pass. It returns the channel that is closed to
// end the watch, or the error that it is to be refused with.
func (g *gate) admitWatch(ctx context.Context, streamsList bool) (ending <-chan struct{}, err error) {
	expired := false
	if err := g.pass(ctx, func() {
		g.watches++
		if g.ending == nil {
			g.ending = make(chan struct{})
		}
		ending, expired, g.expired = g.ending, g.expired, false
	}); err != nil {
		return nil, err
	}
	if expired && !streamsList {
		return nil, apierrors.NewResourceExpired("the version has expired, says the test")
	}
	return ending, nil
}

func (g *gate) passWatch(ctx context.Context, opts metav1.ListOptions, client watcher) (watch.Interface, error) {
	ending, err := g.admitWatch(ctx, opts.SendInitialEvents != nil)
	if err != nil {
		return nil, err
	}
	w, err := client.Watch(ctx, opts)
	if err != nil {
		return nil, err
	}
	events := make(chan watch.Event)
	relayed := watch.NewProxyWatcher(events)
	g.relays.Go(func() {
		defer close(events)
		defer w.Stop()
		relay(w.ResultChan(), events, ending, relayed.StopChan())
	})
	return relayed, nil
}

// relay passes events on until there are no more, or one of the others is closed.
func relay(from <-chan watch.Event, to chan<- watch.Event, ending, stopping <-chan struct{}) {
	for {
		select {
		case e, ok := <-from:
			if !ok {
				return
			}
			select {
			case to <- e:
			case <-ending:
				return
			case <-stopping:
				return
			}
		case <-ending:
			return
		case <-stopping:
			return
		}
	}
}

// listWatch returns a client, such as one of package dynamic, as a ListerWatcher behind a gate.
func listWatch[L runtime.Object](g *gate, client interface {
	watcher
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
}) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			if err := g.passList(ctx); err != nil {
				return nil, err
			}
			return client.List(ctx, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			return g.passWatch(ctx, opts, client)
		},
	}
}

// gatedClient is a generated client behind a gate.
type gatedClient[T index.Object, L runtime.Object] struct {
	kube.Client[T, L]
	gate *gate
}

// List implements kube.Client.
func (c gatedClient[T, L]) List(ctx context.Context, opts metav1.ListOptions) (L, error) {
	if err := c.gate.passList(ctx); err != nil {
		var none L
		return none, err
	}
	return c.Client.List(ctx, opts)
}

// Watch implements kube.Client.
func (c gatedClient[T, L]) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return c.gate.passWatch(ctx, opts, c.Client)
}
