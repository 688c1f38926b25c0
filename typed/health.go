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

// report notes and logs err, see Sink.Report.
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

	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		if h.failures > 0 {
			klog.FromContext(ctx).Info("List and watch work again", "informer", name, "failures", h.failures, "since", h.since)
		}
		h.err, h.failures, h.since = nil, 0, time.Time{}
		return
	}
	if h.failures == 0 {
		h.since = time.Now()
	}
	h.failures++
	h.err, h.lastErr = err, err
	if h.failures&(h.failures-1) != 0 { // only the first, second, fourth, eighth, …
		return
	}
	utilruntime.HandleErrorWithContext(ctx, err, "Failed to list or watch, will try again", "informer", name, "failures", h.failures)
}

// fill copies what is known into s.
func (h *health) fill(s *Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Err, s.Failures, s.Since = h.err, h.failures, h.since
	s.LastErr = h.lastErr
	s.Rejected, s.LastRejected = h.rejected, h.lastRejected
}
