package adapters

import (
	"context"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
)

// listerWatcher passes on what a Reflector asks for, and remembers how it has
// last asked for a list.
type listerWatcher struct {
	cache.ListerWatcherWithContext

	noStreaming bool
	lists       context.Context // of lists, for which a Reflector has one that does not end; nil: they end when they end
	streaming   atomic.Bool
	relists     bool                               // relist may be called
	watching    atomic.Pointer[context.CancelFunc] // ends the watch
	again       atomic.Bool                        // relist was called
}

func newListerWatcher(lw cache.ListerWatcher) *listerWatcher {
	return &listerWatcher{
		ListerWatcherWithContext: cache.ToListerWatcherWithContext(lw),
		noStreaming:              watchlist.DoesClientNotSupportWatchListSemantics(lw),
	}
}

// streamed reports whether the last list that was asked for was a streamed one.
func (lw *listerWatcher) streamed() bool { return lw.streaming.Load() }

// IsWatchListSemanticsUnSupported returns true if the Reflector must not stream lists; see
// watchlist.DoesClientNotSupportWatchListSemantics.
func (lw *listerWatcher) IsWatchListSemanticsUnSupported() bool { return lw.noStreaming }

// ListWithContext implements cache.ListerWithContext.
func (lw *listerWatcher) ListWithContext(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	lw.streaming.Store(false)
	lw.again.Store(false)
	if lw.lists != nil {
		listing, cancel := context.WithCancel(lw.lists)
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		ctx = listing
	}
	return lw.ListerWatcherWithContext.ListWithContext(ctx, opts)
}

// WatchWithContext implements cache.WatcherWithContext.
func (lw *listerWatcher) WatchWithContext(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	lw.streaming.Store(opts.SendInitialEvents != nil && *opts.SendInitialEvents)
	if lw.relists {
		if lw.again.Swap(false) {
			return nil, apierrors.NewResourceExpired("the watch has not brought what own writes were answered")
		}
		if end := lw.watching.Load(); end != nil {
			(*end)()
		}
		watching, end := context.WithCancel(ctx)
		lw.watching.Store(&end)
		ctx = watching
	}
	return lw.ListerWatcherWithContext.WatchWithContext(ctx, opts)
}

// relist ends the watch, and has the objects listed. It does not wait.
func (lw *listerWatcher) relist() {
	if lw.again.Swap(true) {
		return
	}
	if end := lw.watching.Load(); end != nil {
		(*end)()
	}
}

// List is there to make a cache.ListerWatcher; the Reflector does not call it.
func (lw *listerWatcher) List(opts metav1.ListOptions) (runtime.Object, error) {
	return lw.ListWithContext(context.Background(), opts)
}

// Watch is there to make a cache.ListerWatcher; the Reflector does not call it.
func (lw *listerWatcher) Watch(opts metav1.ListOptions) (watch.Interface, error) {
	return lw.WatchWithContext(context.Background(), opts)
}
