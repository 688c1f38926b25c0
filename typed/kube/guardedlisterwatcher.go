package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
	"k8s.io/utils/ptr"

	"github.com/kubetyped/informer/internal/goroutine"
)

// GuardedListerWatcher is a ListerWatcher whose streamed lists (WatchList) end. It is for
// one Reflector, client-go's, which otherwise waits for the end of such a list for ever, or
// asks for it again and again.
type GuardedListerWatcher struct {
	inner       cache.ListerWatcherWithContext
	unsupported bool // lists cannot be streamed
	lists       streamedLists
	leavesWaits bool // the caller waits after requests that were refused

	between  backoff         // owned by the Reflector; waits after requests that were refused
	fake     watch.Interface // owned by the Reflector; of the list that was given up, nil: none
	requests sync.WaitGroup
}

var _ cache.ListerWatcher = (*GuardedListerWatcher)(nil)

// GuardListerWatcher returns a ListerWatcher that makes the requests of lw. All but
// streamed lists pass unchanged. A streamed list fails, so that the Reflector makes a plain
// list in its place at once,
//
//  1. for good, if nothing has come for 30 s, neither one of the first objects nor the
//     bookmark that ends them, or no answer for 60 s, or if the server has ended it without
//     the bookmark when it was asked to;
//  2. once, if three in a row have ended without the bookmark, or all have for 30 s, or if
//     the server has refused them, with 429, for 60 s. The waits in between end with the
//     context;
//  3. for good, and at once, if the watch is a fake one of apimachinery's: fakes that were
//     generated before client-go 0.35 do not know of such lists, and do not say so.
//
// report, unless it is nil, is called for each list that is given up by 1 and 2, with an error
// that is source.ErrNotStreamed, by a goroutine of the watch or of the Reflector. After a
// streamed list, events of its watch take one more channel.
func GuardListerWatcher(lw cache.ListerWatcher, report func(error)) *GuardedListerWatcher {
	if report == nil {
		report = func(error) {}
	}
	return &GuardedListerWatcher{
		inner:       cache.ToListerWatcherWithContext(lw),
		unsupported: watchlist.DoesClientNotSupportWatchListSemantics(lw),
		lists:       streamedLists{silence: defaultSilence, report: report},
		between:     requestConfig{}.refused(),
	}
}

// IsWatchListSemanticsUnSupported is how a Reflector asks whether lists can not be streamed.
func (g *GuardedListerWatcher) IsWatchListSemanticsUnSupported() bool { return g.unsupported }

// List implements cache.Lister.
func (g *GuardedListerWatcher) List(opts metav1.ListOptions) (runtime.Object, error) {
	return g.ListWithContext(context.Background(), opts)
}

// Watch implements cache.Watcher.
func (g *GuardedListerWatcher) Watch(opts metav1.ListOptions) (watch.Interface, error) {
	return g.WatchWithContext(context.Background(), opts)
}

// ListWithContext implements cache.ListerWithContext.
func (g *GuardedListerWatcher) ListWithContext(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	if err := ctx.Err(); err != nil { // a Reflector that is stopped lists after a streamed list
		return nil, err
	}
	return g.inner.ListWithContext(ctx, opts)
}

// Wait waits until nothing is read from streamed lists any more, and no request for one is
// in flight. The Reflector has to have ended.
func (g *GuardedListerWatcher) Wait() {
	g.requests.Wait()
	g.stopFake(nil)
}

// WatchWithContext implements cache.WatcherWithContext.
func (g *GuardedListerWatcher) WatchWithContext(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	if !ptr.Deref(opts.SendInitialEvents, false) {
		w, err := g.inner.WatchWithContext(ctx, opts)
		if err == nil {
			g.stopFake(w)
		}
		return w, err
	}
	for {
		if g.lists.plain.Load() {
			return nil, errNotStreamed
		}
		w, err := g.stream(ctx, opts)
		refused := apierrors.IsTooManyRequests(err)
		switch {
		case err == nil:
			g.between.reset()
			return w, nil
		case refused && g.lists.isRefusedForTooLong():
			g.lists.giveUp(fmt.Errorf("%w: %w", errRefused, err), false)
			return nil, errNotStreamed
		case !refused && !utilnet.IsConnectionRefused(err):
			g.lists.settle()
			return nil, err
		case g.leavesWaits:
			return nil, err
		}
		// The Reflector would wait as well, but does not stop meanwhile.
		g.lists.wait(ctx, &g.between, err)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// stream asks for a streamed list.
func (g *GuardedListerWatcher) stream(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	request, cancel := context.WithCancelCause(ctx)
	list := &streamedList{
		streamedLists: &g.lists, release: func() { cancel(errOver) },
		begun: time.Now(), timeout: time.Duration(ptr.Deref(opts.TimeoutSeconds, 0)) * time.Second,
	}
	g.lists.begin()
	list.unanswered = time.AfterFunc(2*g.lists.silence, func() { cancel(errSilence) })
	w, err := g.open(context.WithValue(request, streamedListKey{}, list), opts)
	if err == nil && !list.unanswered.Stop() {
		w.Stop()
		err = errSilence
	}
	switch {
	case err == nil && list.taken:
		return w, nil
	case err == nil && !isFake(w):
		guarded := &guardedWatch{relay: newRelay(w), list: list, request: request}
		list.watchOver(cancel)
		g.requests.Go(guarded.run)
		return guarded, nil
	case err == nil:
		g.stopFake(w)
		g.fake = w
		err = errNotStreamed
	case errors.Is(context.Cause(request), errSilence):
		g.lists.giveUp(fmt.Errorf("%w: it has not answered", errSilence), true)
		err = errNotStreamed
	}
	if errors.Is(err, errNotStreamed) {
		g.lists.plain.Store(true)
	}
	list.unanswered.Stop()
	cancel(nil)
	return nil, err
}

// opened is a watch, or why there is none.
type opened struct {
	watch watch.Interface
	err   error
}

// open makes a request until ctx ends, even if that does not end the request: there are
// functions that watch with another context. A watch that comes too late is stopped.
func (g *GuardedListerWatcher) open(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	result, left := make(chan opened), make(chan struct{})
	g.requests.Go(func() {
		var o opened
		o.err = goroutine.Contain(ctx, "the function that watches", func() (err error) {
			o.watch, err = g.inner.WatchWithContext(ctx, opts)
			return err
		})
		select {
		case result <- o:
		case <-left:
			if o.err == nil {
				o.watch.Stop()
			}
		}
	})
	select {
	case o := <-result:
		return o.watch, o.err
	case <-ctx.Done():
		if context.Cause(ctx) == errOver {
			o := <-result
			return o.watch, o.err
		}
		close(left)
		return nil, context.Cause(ctx)
	}
}

// errOver is why the context of a request has ended whose watch was opened, and has ended. It
// may have ended before WatchWithContext returns it.
var errOver = errors.New("the watch has ended")

// isFake reports whether a watch is one of apimachinery's fakes.
func isFake(w watch.Interface) bool {
	switch w.(type) {
	case *watch.FakeWatcher, *watch.RaceFreeFakeWatcher:
		return true
	}
	return false
}

// stopFake stops the fake watch of the list that was given up, now that there is another
// one. Tests may hand out the same one again, which would be of no use if it was stopped.
func (g *GuardedListerWatcher) stopFake(next watch.Interface) {
	if g.fake != nil && g.fake != next {
		g.fake.Stop()
	}
	g.fake = nil
}
