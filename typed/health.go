package typed

import (
	"context"
	"errors"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// health keeps what a source has reported of its troubles.
type health struct {
	mu           sync.Mutex
	err          error // guarded by mu; nil: it works
	failures     int   // guarded by mu; since it last worked
	since        time.Time
	lastErr      error
	rejected     int
	lastRejected *RejectedError
}

// report notes and logs err, see Sink.Report. What logs is the user's, and may
// ask for the informer's status, so no lock is held meanwhile.
func (h *health) report(ctx context.Context, name string, err error) {
	var rejected *RejectedError
	if errors.As(err, &rejected) {
		h.mu.Lock()
		h.rejected++
		h.lastRejected = rejected
		h.mu.Unlock()
		utilruntime.HandleErrorWithContext(ctx, rejected.Err, "Left out an object that cannot be used",
			"informer", name, "object", rejected.Key, "resourceVersion", rejected.ResourceVersion)
		return
	}
	failures, since := h.note(err)
	switch {
	case err == nil && failures > 0:
		klog.FromContext(ctx).Info("List and watch work again", "informer", name, "failures", failures, "since", since)
	case err != nil && failures&(failures-1) == 0: // only the first, second, fourth, eighth, …
		utilruntime.HandleErrorWithContext(ctx, err, "Failed to list or watch, will try again", "informer", name, "failures", failures)
	}
}

// note counts a failure, or forgets them all if err is nil. It returns how many
// there were, this one included, and since when.
func (h *health) note(err error) (failures int, since time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		failures, since = h.failures, h.since
		h.err, h.failures, h.since = nil, 0, time.Time{}
		return failures, since
	}
	if h.failures == 0 {
		h.since = time.Now()
	}
	h.failures++
	h.err, h.lastErr = err, err
	return h.failures, h.since
}

// fill copies what is known into s.
func (h *health) fill(s *Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Err, s.Failures, s.Since = h.err, h.failures, h.since
	s.LastErr = h.lastErr
	s.Rejected, s.LastRejected = h.rejected, h.lastRejected
}
