package typed

import (
	"context"
	"fmt"
	"time"

	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/typed/report"
)

// WithCallTimes makes the calls of handlers timed: Status then has a histogram of them, the
// slowest call, and the one that each handler is in. It costs about 50 ns an event.
func WithCallTimes() Option {
	return func(c *config) error {
		c.callTimes = true
		return nil
	}
}

// WithSlowHandlers times the calls of handlers, as WithCallTimes does, and logs a line for
// each that has taken longer than limit, with the handler, the key and the type of the
// event. A call that has not returned after stackAfter is logged, too, once and while it
// lasts, with the stack of its goroutine; it is then called stuck in Status. With 0, that is
// after five minutes. There are up to 6 such lines a minute for an informer, which say how
// many were left out before.
func WithSlowHandlers(limit, stackAfter time.Duration) Option {
	return func(c *config) error {
		switch {
		case limit <= 0:
			return fmt.Errorf("WithSlowHandlers: the limit %v is not positive", limit)
		case stackAfter < 0:
			return fmt.Errorf("WithSlowHandlers: the time %v after which a stack is logged is negative", stackAfter)
		case stackAfter == 0:
			stackAfter = stuckAfter
		}
		c.callTimes, c.slowLimit, c.stuckAfter = true, limit, stackAfter
		return nil
	}
}

// WithSlowIndexes logs a line for an index function that takes longer than limit for one
// object, with the index and the object's key. A write of the store is timed as a whole,
// which costs next to nothing; one that takes longer than limit has its index functions
// called once more, each by itself, for up to 256 of its objects. There are up to 6 such
// lines a minute for an informer, which say how many were left out before.
func WithSlowIndexes(limit time.Duration) Option {
	return func(c *config) error {
		if limit <= 0 {
			return fmt.Errorf("WithSlowIndexes: the limit %v is not positive", limit)
		}
		c.slowIndexes = limit
		return nil
	}
}

// stuckLimit returns how long a call lasts that is called stuck.
func (c *config) stuckLimit() time.Duration {
	if c.stuckAfter > 0 {
		return c.stuckAfter
	}
	return stuckAfter
}

// newCalls returns what times the calls of a handler, nil if nothing does.
func (i *Informer[T]) newCalls(ctx context.Context, handler string) *calls[T] {
	if !i.callTimes {
		return nil
	}
	return &calls[T]{base: time.Now(), limit: i.slowLimit, slow: func(c report.Call) {
		if left, ok := i.slowLog.Next(time.Since(i.began)); ok {
			klog.FromContext(ctx).Info("A handler was slow", "handler", handler, "object", c.Key, "event", c.Type.String(), "took", c.Took, "limit", i.slowLimit, "leftOut", left)
		}
	}}
}

// watchHandlers logs the stacks of handlers that do not return, until ctx ends.
func (i *Informer[T]) watchHandlers(ctx context.Context) {
	ticker := time.NewTicker(max(i.stuckAfter/4, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, l := range i.listeners.all() {
			c := l.timed.Load()
			if c == nil {
				continue
			}
			call := c.overdue(i.stuckAfter)
			if call == nil {
				continue
			}
			if left, ok := i.slowLog.Next(time.Since(i.began)); ok {
				contain(func() {
					klog.FromContext(ctx).Info("A handler does not return", "handler", l.name, "object", call.Key, "event", call.Type.String(),
						"since", call.Began, "leftOut", left, "stack", goroutine.Stack(l.goroutine.Load()))
				})
			}
		}
	}
}

// maxBlamed is how many objects of a slow write have their index functions timed.
const maxBlamed = 256

// beginWrite returns when a write of the store begins, if that is of interest.
func (l *loop[T]) beginWrite() (began time.Time) {
	if l.observed && l.slowIndexes > 0 {
		began = time.Now()
	}
	return began
}

// endWrite notes how long it took.
func (l *loop[T]) endWrite(began time.Time) {
	if l.observed && l.slowIndexes > 0 {
		l.wrote = time.Since(began)
	}
}

// blameIndexes logs which index function was slow, if one was, after a write of n objects.
func (l *loop[T]) blameIndexes(n int, object func(int) (T, bool)) {
	if l.slowIndexes == 0 || l.wrote <= l.slowIndexes {
		return
	}
	for at := range min(n, maxBlamed) {
		obj, ok := object(at)
		if !ok {
			continue
		}
		name, took := l.store.Slowest(obj)
		if took <= l.slowIndexes {
			continue
		}
		if left, ok := l.slowLog.Next(time.Since(l.began)); ok {
			l.logger().Info("An index function was slow", "index", name, "object", index.KeyOf(obj), "took", took, "limit", l.slowIndexes, "leftOut", left)
		}
	}
}
