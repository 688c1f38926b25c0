package queue

import (
	"cmp"
	"context"
	"errors"
	"time"

	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/internal/timing"
)

const defaultStuck = 5 * time.Minute // after which a call is Stuck

// slowness says which calls of Run take too long.
type slowness struct {
	limit time.Duration // a call that took longer is logged when it has ended; 0: none is watched
	stuck time.Duration // a call that has taken as long is stuck, and logged while it lasts
}

// WithSlowReconciles makes Run log a line for each call of the function that processes keys
// which took longer than limit, with the key and how long it took. A call that has not returned
// after stackAfter, 5 minutes if that is 0, is logged, too, once and while it lasts, with the
// stack of its goroutine; Report calls it stuck. There are up to 6 such lines a minute for a
// queue, which say how many were left out before.
//
// To find a stack, the program stands still for some microseconds for each of its goroutines. A
// call costs two looks at the clock more with this option.
func WithSlowReconciles(limit, stackAfter time.Duration) Option {
	return func(o *options) error {
		o.slow = slowness{limit: limit, stuck: cmp.Or(stackAfter, defaultStuck)}
		return errors.Join(
			refuse(limit <= 0, "WithSlowReconciles: the limit %v is not positive", limit),
			refuse(stackAfter < 0, "WithSlowReconciles: the time %v after which a stack is logged is negative", stackAfter))
	}
}

// newWatchdog returns one for the worker that calls it, nil if none is wanted.
func (r *run[K]) newWatchdog() *timing.Watchdog[K] {
	if r.slow.limit == 0 {
		return nil
	}
	return timing.NewWatchdog(&r.time, r.slow.stuck, func(key K, began time.Duration, stack func() string) {
		if left, ok := r.slowLog.Next(r.time.Now()); ok {
			r.logger.Info("Processing does not return", "key", key, "since", r.time.At(began), "leftOut", left, "stack", stack())
		}
	})
}

// logSlow logs a call that was slow.
func (r *run[K]) logSlow(ctx context.Context, took time.Duration) {
	if limit := r.slow.limit; limit > 0 && took > limit {
		if left, ok := r.slowLog.Next(r.time.Now()); ok {
			klog.FromContext(ctx).Info("Processing was slow", "took", took, "limit", limit, "leftOut", left)
		}
	}
}
