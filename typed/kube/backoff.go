package kube

import (
	"context"
	"time"

	"github.com/kubetyped/informer/internal/timing"
)

// backoff is a series of waits that become longer. Each is random, between
// nothing and a limit that grows by a factor: with such "full jitter", clients
// that a server cut off at the same moment come back spread out over the whole
// of the limit (M. Brooker, "Exponential Backoff And Jitter", 2015).
type backoff struct {
	first, last time.Duration // of the limit
	factor      float64
	limit       time.Duration // of the next wait; 0: first
}

// wait blocks for the next wait of the series, or until ctx ends.
func (b *backoff) wait(ctx context.Context) { sleep(ctx, b.next(ctx)) }

// sleep blocks for a time, or until ctx ends.
func sleep(ctx context.Context, length time.Duration) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// next returns the length of the next wait of the series.
func (b *backoff) next(ctx context.Context) time.Duration {
	limit := max(b.limit, b.first)
	b.limit = min(time.Duration(float64(limit)*b.factor), b.last)
	return time.Duration(timing.RandomFrom(ctx).Int64N(int64(limit)))
}

// isRepeated reports whether there was a wait since the series began.
func (b *backoff) isRepeated() bool { return b.limit > 0 }

// reset starts the series again.
func (b *backoff) reset() { b.limit = 0 }
