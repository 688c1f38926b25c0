package typed

import (
	"context"
	"errors"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/loglimit"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// health keeps what a source has reported of its troubles.
type health struct {
	mu       sync.Mutex
	err      error     // guarded by mu; nil: it works
	failures int       // guarded by mu; since it last worked
	since    time.Time // guarded by mu
	lastErr  error     // guarded by mu
	withheld error     // guarded by mu; why the first list was not taken up
	failed   failed    // guarded by mu; all failures
	watches  int       // guarded by mu
	watching time.Time // guarded by mu; when it last began to watch (zero: it has failed since)
	contact  time.Time // guarded by mu; when it last worked

	notStreamed    int   // guarded by mu; streamed lists that were given up
	notStreamedErr error // guarded by mu; why the last one was

	trouble    loglimit.Trouble // what is logged of failures
	rejections rejections
	unreported unreported
}

// report notes and logs err, see Sink.Report. What logs is the user's, and may
// ask for the informer's status, so no lock is held meanwhile.
func (h *health) report(ctx context.Context, name string, err error) {
	h.note(err)
	goroutine.CallSafely(func() { h.log(ctx, name, err) })
}

// log logs err, or that there was none.
func (h *health) log(ctx context.Context, name string, err error) {
	if err == nil {
		h.trouble.Work(func(failures int, since, worked time.Time) {
			klog.FromContext(ctx).Info("List and watch work again", "informer", name, "failures", failures, "since", since, "worksSince", worked)
		})
		return
	}
	if failures, since, log := h.trouble.Fail(); log {
		utilruntime.HandleErrorWithContext(ctx, err, "Failed to list or watch, will retry", "informer", name, "failures", failures, "since", since)
	}
}

// giveUp notes and logs that a streamed list was given up.
func (h *health) giveUp(ctx context.Context, name string, err error) {
	h.mu.Lock()
	h.notStreamed++
	h.notStreamedErr = err
	h.mu.Unlock()
	goroutine.CallSafely(func() {
		klog.FromContext(ctx).Info("A streamed list was given up, the objects are listed", "informer", name, "reason", err)
	})
}

// reject notes that an object was rejected, and has it logged.
func (h *health) reject(ctx context.Context, rejected *source.RejectedError, by rejecter) {
	h.rejections.note(rejected, by)
	h.unreported.add(ctx, rejected)
}

// watch notes that the source begins to watch.
func (h *health) watch() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watches++
	h.watching = time.Now()
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// withhold notes why the first list was not taken up, nil if one was.
func (h *health) withhold(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.withheld = err
}

// failure returns what list and watch fail with, nil if they work.
func (h *health) failure() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// note counts a failure, or forgets them all if err is nil.
func (h *health) note(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	if err == nil {
		h.err, h.failures, h.since = nil, 0, time.Time{}
		h.contact = now
		return
	}
	if h.failures == 0 {
		h.since = now
	}
	h.watching = time.Time{}
	h.failures++
	h.failed.count(err)
	h.err, h.lastErr = err, err
}

// failed counts failures.
type failed struct{ all, lists, watches uint64 }

func (f *failed) count(err error) {
	f.all++
	var request *source.RequestError
	switch {
	case !errors.As(err, &request):
	case request.Watch:
		f.watches++
	default:
		f.lists++
	}
}

// fill copies what is known into s.
func (h *health) fill(s *report.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Err, s.Failures, s.Since = h.err, h.failures, h.since
	if s.Err == nil {
		s.Err = h.withheld
	}
	s.LastErr = h.lastErr
	s.Failed, s.FailedLists, s.FailedWatches = h.failed.all, h.failed.lists, h.failed.watches
	s.Watches, s.WatchSince = h.watches, h.watching
	s.LastContact = h.contact
	s.NotStreamed, s.NotStreamedErr = h.notStreamed, h.notStreamedErr
	h.rejections.fill(s)
}
