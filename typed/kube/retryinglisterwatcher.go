package kube

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
	"k8s.io/utils/ptr"

	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/typed/source"
)

// retryingListerWatcher stands between a Reflector and the ListerWatcher of a source. It adds
// the source's selectors to each request, and reports the results of requests, which the
// Reflector only logs. It tries again where nothing but time can help, and keeps track of
// requests in flight, because a Reflector that is stopped does not wait for its list.
type retryingListerWatcher struct {
	cache.ListerWatcherWithContext

	config      sourceConfig
	noWatchList bool
	// reportsWatches is set if the ListerWatcher itself reports that a watch was opened, before
	// it can report how the watch ends.
	reportsWatches bool
	report         func(error)
	progress       func(received, expected int)

	mu       sync.Mutex
	closed   bool  // guarded by mu
	last     error // guarded by mu; the last failure of a request
	received int   // owned by the Reflector; objects of the list in progress
	turn     turn  // of the list in progress
	requests sync.WaitGroup
}

func newRetryingListerWatcher(lw cache.ListerWatcher, config sourceConfig, report func(error), progress func(received, expected int)) *retryingListerWatcher {
	return &retryingListerWatcher{
		ListerWatcherWithContext: cache.ToListerWatcherWithContext(lw),

		config:      config,
		noWatchList: config.noWatchList || watchlist.DoesClientNotSupportWatchListSemantics(lw),
		report:      report,
		progress:    progress,
		turn:        turn{budget: config.budget},
	}
}

// IsWatchListSemanticsUnSupported reports whether the Reflector must not stream lists.
func (lw *retryingListerWatcher) IsWatchListSemanticsUnSupported() bool { return lw.noWatchList }

// ListWithContext implements cache.ListerWithContext.
func (lw *retryingListerWatcher) ListWithContext(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	if !lw.begin() {
		return nil, context.Canceled
	}
	defer lw.requests.Done()
	lw.restrict(&opts)
	lw.config.requests.list(&opts)
	raise(ctx, &opts)
	list, err := persist(ctx, lw, false, func() (runtime.Object, error) {
		return inTurn(ctx, lw, opts.Continue == "", func() (runtime.Object, error) {
			return listed(ctx, lw.config.requests, func(ctx context.Context) (runtime.Object, error) {
				return lw.ListerWatcherWithContext.ListWithContext(ctx, opts)
			})
		})
	})
	if err == nil {
		lw.countPage(list, opts.Continue != "")
	}
	return list, err
}

// WatchWithContext implements cache.WatcherWithContext.
func (lw *retryingListerWatcher) WatchWithContext(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	if !lw.begin() {
		return nil, context.Canceled
	}
	defer lw.requests.Done()
	lw.restrict(&opts)
	lw.config.requests.watch(ctx, &opts)
	lw.received = 0
	streamsList := ptr.Deref(opts.SendInitialEvents, false)
	w, err := persist(ctx, lw, !streamsList, func() (watch.Interface, error) {
		w, err := inTurn(ctx, lw, streamsList, func() (watch.Interface, error) {
			return lw.ListerWatcherWithContext.WatchWithContext(ctx, opts)
		})
		if opts.SendInitialEvents != nil && (apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)) {
			// Old servers say so, and are listed next. If anything else is wrong with
			// the request, the list fails as well, and that is reported.
			err = fmt.Errorf("%w: %w", errNotStreamed, err)
		}
		return w, err
	})
	if err == nil && !lw.reportsWatches {
		lw.report(nil)
	}
	return w, err
}

// contained makes a request. If that panics, it has failed: in the goroutine of the request,
// whose stack is the user's, as client-go takes panics of lists to another one.
func contained[R any](ctx context.Context, request func() (R, error)) (result R, err error) {
	err = goroutine.Contain(ctx, "the function that lists or watches", func() (err error) {
		result, err = request()
		return err
	})
	return result, err
}

// persist makes a request again and again until it succeeds, fails in a way that
// the Reflector has to know of, or ctx ends: then it returns ctx's error, and not what
// the request last failed with, after which the Reflector would wait before it looks at
// ctx where the request is for a streamed list. It reports each failure, of a watch or a list.
func persist[R any](ctx context.Context, lw *retryingListerWatcher, watch bool, request func() (R, error)) (R, error) {
	unreachable, refused := lw.config.requests.unreachable(), lw.config.requests.refused()
	for ctx.Err() == nil {
		result, err := contained(ctx, request)
		if err == nil || errors.Is(err, errNotStreamed) {
			return result, err
		}
		if ctx.Err() != nil {
			break
		}
		lw.failed(err, watch)
		switch {
		case isUnreachable(err):
			unreachable.wait(ctx)
			refused.reset()
		case apierrors.IsTooManyRequests(err):
			refused.wait(ctx)
			unreachable.reset()
		default:
			return result, err
		}
	}
	return *new(R), ctx.Err()
}

// inTurn makes a request, with which a list may begin, when it is its turn.
func inTurn[R any](ctx context.Context, lw *retryingListerWatcher, begins bool, request func() (R, error)) (R, error) {
	if begins {
		if err := lw.turn.take(ctx, lw.report); err != nil {
			return *new(R), err
		}
	}
	result, err := request()
	if err != nil {
		lw.turn.giveBack()
	}
	return result, err
}

// isUnreachable reports whether a request has failed before there was a
// connection to the server, or to a proxy before it, or a watch before there was an answer.
func isUnreachable(err error) bool {
	for op, ok := errors.AsType[*net.OpError](err); ok; op, ok = errors.AsType[*net.OpError](op.Err) {
		if op.Op == "dial" { // that of a proxy is within another one
			return true
		}
	}
	return errors.Is(err, errNoAnswer)
}

// countPage notes the progress that a page of a list makes. Errors are left to
// the Reflector, which looks at the list next.
func (lw *retryingListerWatcher) countPage(list runtime.Object, continued bool) {
	if !continued {
		lw.received = 0
	}
	lw.received += meta.LenList(list)
	expected := 0
	if accessor, err := meta.ListAccessor(list); err == nil {
		switch remaining := accessor.GetRemainingItemCount(); {
		case remaining != nil:
			expected = lw.received + int(*remaining)
		case accessor.GetContinue() == "":
			expected = lw.received
		}
	}
	lw.progress(lw.received, expected)
}

// countStreamed notes that one more object of a streamed list has come.
func (lw *retryingListerWatcher) countStreamed() {
	lw.received++
	lw.progress(lw.received, 0)
}

// raise makes a first list one that is not older than what the context asks for.
func raise(ctx context.Context, opts *metav1.ListOptions) {
	if opts.ResourceVersion != "0" || opts.Continue != "" {
		return // it is of the latest state, or not the first one
	}
	if floor := source.FloorOf(ctx); floor != "" {
		opts.ResourceVersion, opts.ResourceVersionMatch, opts.Limit = floor, metav1.ResourceVersionMatchNotOlderThan, 0
	}
}

// restrict adds the selectors.
func (lw *retryingListerWatcher) restrict(opts *metav1.ListOptions) {
	if lw.config.labels != nil {
		opts.LabelSelector = lw.config.labels.String()
	}
	if lw.config.fields != nil {
		opts.FieldSelector = lw.config.fields.String()
	}
	opts.ShardSelector = lw.config.shards
}

// failed reports the failure of a request, for a watch or a list.
func (lw *retryingListerWatcher) failed(err error, watch bool) {
	lw.mu.Lock()
	lw.last = err
	lw.mu.Unlock()
	lw.report(&source.RequestError{Watch: watch, Err: err})
}

// ended reports what the Reflector ended with, unless that is, or wraps, the
// failure of a request, which was reported.
func (lw *retryingListerWatcher) ended(err error) {
	lw.mu.Lock()
	known := lw.last != nil && errors.Is(err, lw.last)
	lw.last = nil
	lw.mu.Unlock()
	if !known { // a list that could not be used, since the ends of watches are not reported
		lw.report(&source.RequestError{Err: err})
	}
}

// begin counts a request, unless the source has ended.
func (lw *retryingListerWatcher) begin() bool {
	lw.mu.Lock()
	defer lw.mu.Unlock()
	if lw.closed {
		return false
	}
	lw.requests.Add(1)
	return true
}

// close refuses further requests and waits for those in flight.
func (lw *retryingListerWatcher) close() {
	defer lw.turn.giveBack()
	lw.mu.Lock()
	lw.closed = true
	lw.mu.Unlock()
	lw.requests.Wait()
}
