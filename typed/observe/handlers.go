package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/loglimit"
	"github.com/kubetyped/informer/internal/observer"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/report"
)

// WithCallTimes makes the calls of handlers timed: Status then has a histogram of them, the
// slowest call, and the one that each handler is in. It costs about 50 ns an event.
func WithCallTimes() typed.Option { return typed.WithObserver(callTimes{}) }

// WithSlowHandlers times the calls of handlers, as WithCallTimes does, and logs a line for
// each that has taken longer than limit, with the handler, the key and the type of the
// event. A call that has not returned after stackAfter is logged, too, once and while it
// lasts, with the stack of its goroutine; it is then called stuck in Status. With 0, that is
// after five minutes. There are up to 6 such lines a minute for an informer, which say how
// many were left out before.
func WithSlowHandlers(limit, stackAfter time.Duration) typed.Option {
	return typed.WithObserver(callTimes{slow: true, limit: limit, stackAfter: stackAfter})
}

// stuckAfter is how long a call lasts that is called stuck, unless WithSlowHandlers says
// something else.
const stuckAfter = 5 * time.Minute

// callTimes times calls, and logs slow ones if slow is set.
type callTimes struct {
	slow              bool
	limit, stackAfter time.Duration
}

func (c callTimes) Observe(o observer.Observed) (observer.Hooks, error) {
	switch {
	case c.slow && c.limit <= 0:
		return observer.Hooks{}, fmt.Errorf("WithSlowHandlers: the limit %v is not positive", c.limit)
	case c.stackAfter < 0:
		return observer.Hooks{}, fmt.Errorf("WithSlowHandlers: the time %v after which a stack is logged is negative", c.stackAfter)
	case c.stackAfter == 0:
		c.stackAfter = stuckAfter
	}
	w := &handlers{Observed: o, callTimes: c, began: time.Now(), all: map[*handler]bool{}}
	hooks := observer.Hooks{Handler: w.enter}
	if c.slow {
		hooks.Run = w.watch
	}
	return hooks, nil
}

func (c callTimes) Option() string {
	if c.slow {
		return "WithSlowHandlers"
	}
	return "WithCallTimes"
}

func (c callTimes) Alone() bool                       { return false }
func (c callTimes) Same(other observer.Observer) bool { return c == other }

// After implements observer.Observer. One that logs slow calls counts, whether it is later or not.
func (c callTimes) After(earlier observer.Observer) observer.Observer {
	if e, ok := earlier.(callTimes); ok && !c.slow {
		return e
	}
	return observer.Latest(c, earlier)
}

// handlers are those of an informer.
type handlers struct {
	observer.Observed
	callTimes

	began time.Time
	lines loglimit.Log

	mu  sync.Mutex
	all map[*handler]bool // guarded by mu; those whose goroutine runs
}

// handler is a handler whose calls are timed.
type handler struct {
	calls
	name      string
	goroutine uint64
}

// enter times the calls of a handler.
func (w *handlers) enter(name string) observer.HandlerHooks {
	h := &handler{name: name, goroutine: goroutine.ID()}
	h.base, h.limit = time.Now(), w.limit
	h.slow = func(c report.Call) {
		if left, ok := w.lines.Next(time.Since(w.began)); ok {
			klog.FromContext(w.Context()).Info("A handler was slow", "handler", name, "object", c.Key, "event", c.Type.String(), "took", c.Took, "limit", w.limit, "leftOut", left)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all[h] = true
	return observer.HandlerHooks{
		Begin: h.begin, End: h.end, Idle: h.pause, Left: func() { w.leave(h) },
		Status: func(s *report.Handler) { h.fill(s, w.stackAfter) },
	}
}

func (w *handlers) leave(h *handler) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, h)
}

// watch logs the stacks of handlers that do not return, until ctx ends.
func (w *handlers) watch(ctx context.Context) {
	ticker := time.NewTicker(max(w.stackAfter/4, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, h := range w.running() {
			call := h.overdue(w.stackAfter)
			if call == nil {
				continue
			}
			if left, ok := w.lines.Next(time.Since(w.began)); ok {
				goroutine.CallSafely(func() {
					klog.FromContext(ctx).Info("A handler does not return", "handler", h.name, "object", call.Key, "event", call.Type.String(),
						"since", call.Began, "leftOut", left, "stack", goroutine.Stack(h.goroutine))
				})
			}
		}
	}
}

func (w *handlers) running() []*handler {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.all))
}
