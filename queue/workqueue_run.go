package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// Run processes keys with the given number of workers until ctx ends, or the
// queue is shut down and nothing waits any more. It returns nil when every worker
// has come to its end. It returns an error at once if workers is less than 1 or
// process is nil. If the queue was shut down before, Run processes what waits,
// and then returns an error that wraps ErrShutDown.
//
// What becomes of a key is up to what process returns:
//
//   - nil: it is done. The rate limiter forgets it.
//   - RequeueAfter: the same, and it is added once more after that time.
//   - TerminalError: it has failed, and is not tried again. The rate limiter
//     forgets it, the error is logged.
//   - Any other error: it has failed, and is added again when the rate limiter
//     allows; the error is logged.
//
// If the error wraps several of these, the first of TerminalError and
// RequeueAfter counts that is found by errors.As, in this order. A key that is
// added again keeps its priority. If it was added while it was being processed,
// it is processed again in any case.
//
// A panic of process is reported to utilruntime.PanicHandlers, as HandleCrash
// does, and counts as an error; it does not end the program. So does
// runtime.Goexit, but it ends the worker; Run returns an error when it was the
// last one.
//
// The function gets a context that ends with ctx and whose logger has the
// queue's name and the key as values.
//
// To stop at once, end ctx: no further key is handed out, and Run waits for the
// calls under way. To stop when all that waits has been processed, call ShutDown,
// Drain or ShutDownWithDrain instead; then errors and RequeueAfter lead to
// nothing, as nothing is added any more. Either way the queue is shut down when
// Run returns, so none of its goroutines is left.
func (q *WorkQueue[K]) Run(ctx context.Context, workers int, process func(ctx context.Context, key K) error) error {
	if workers < 1 {
		return fmt.Errorf("work queue %s: it cannot be run by %d workers, the least is 1", q.name, workers)
	}
	if process == nil {
		return fmt.Errorf("work queue %s: the function that processes keys is nil", q.name)
	}
	defer q.ShutDown()
	wasShutDown := q.ShuttingDown()
	r := &run[K]{q, process, klog.FromContext(ctx).WithValues("queue", q.name)}
	var working sync.WaitGroup
	for range workers {
		working.Go(func() { r.work(ctx) })
	}
	working.Wait()
	switch {
	case wasShutDown:
		return fmt.Errorf("work queue %s: it was shut down before Run was called: %w", q.name, ErrShutDown)
	case ctx.Err() == nil && !q.ShuttingDown():
		return fmt.Errorf("work queue %s: its workers have all ended by runtime.Goexit", q.name)
	}
	return nil
}

// run is one call of Run.
type run[K comparable] struct {
	*WorkQueue[K]
	process func(ctx context.Context, key K) error
	logger  klog.Logger
}

// work is what a worker does.
func (r *run[K]) work(ctx context.Context) {
	w := newWatchdog(r)
	defer w.stop()
	for r.workOnce(ctx, w) {
	}
}

// workOnce reports whether there is more. If a clock panics, and that does not end the
// process, it goes on after a while.
func (r *run[K]) workOnce(ctx context.Context, w *watchdog[K]) (more bool) {
	more = true
	defer utilruntime.HandleCrash(pause)
	key, _, err := r.get(ctx, true)
	if err != nil {
		return false
	}
	r.handle(klog.NewContext(ctx, r.logger.WithValues("key", key)), key, w)
	return true
}

// insist calls what panics only if a clock does, until that does not.
func insist(call func()) {
	defer utilruntime.HandleCrash(func(p any) {
		pause(p)
		if !utilruntime.ReallyCrash {
			insist(call)
		}
	})
	call()
}

// errExited is the outcome of a function that ends its goroutine.
var errExited = errors.New("the function has not returned")

func (r *run[K]) handle(ctx context.Context, key K, w *watchdog[K]) {
	outcome := errExited
	defer func() {
		defer insist(func() { r.Done(key) })
		r.settle(ctx, key, w, outcome)
	}()
	outcome = contain(ctx, func() error {
		w.begin(key)
		return r.process(ctx, key)
	})
}

// settle does what the outcome of a call asks for. What is asked for that, the error, the
// rate limiter and the logger, may panic as well: then the outcome is this panic.
func (r *run[K]) settle(ctx context.Context, key K, w *watchdog[K], outcome error) {
	panicked := contain(ctx, func() error {
		w.end(ctx)
		r.settled(ctx, key, outcome)
		return nil
	})
	if panicked == nil {
		return
	}
	if again := contain(ctx, func() error { r.retry(ctx, key, panicked); return nil }); again != nil {
		insist(func() { r.AddAfter(key, retryAfterPanic) })
	}
}

// retryAfterPanic is when a key is tried again if the rate limiter cannot say it.
const retryAfterPanic = time.Second

// contain calls a function of the user, and turns a panic into an error.
func contain(ctx context.Context, call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			for _, handle := range utilruntime.PanicHandlers {
				handle(ctx, p)
			}
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return call()
}

// settled does what an outcome asks for.
func (r *run[K]) settled(ctx context.Context, key K, outcome error) {
	var terminal *terminalError
	var requeue *requeueError
	switch {
	case outcome == nil:
		r.results.succeeded.Add(1)
		r.Forget(key)
		r.failures.succeeded(key)
	case errors.As(outcome, &terminal):
		r.results.terminal.Add(1)
		r.Forget(key)
		r.failed(key, outcome, true)
		klog.FromContext(ctx).Error(outcome, "Processing has failed and is not tried again")
	case errors.As(outcome, &requeue):
		r.results.requeued.Add(1)
		r.Forget(key)
		r.failures.succeeded(key)
		r.AddAfter(key, requeue.after)
	default:
		r.retry(ctx, key, outcome)
	}
}

// retry has a key that has failed tried again when the rate limiter allows.
func (r *run[K]) retry(ctx context.Context, key K, outcome error) {
	r.results.failed.Add(1)
	r.AddRateLimited(key)
	if ctx.Err() == nil || !errors.Is(outcome, ctx.Err()) && !errors.Is(outcome, context.Cause(ctx)) {
		r.failed(key, outcome, false)
		klog.FromContext(ctx).Error(outcome, "Processing has failed", "requeues", r.NumRequeues(key))
	}
}

// failed notes a failure, for Report and KeyState.
func (r *run[K]) failed(key K, err error, terminal bool) {
	r.failures.failed(key, err, terminal, r.time.at(r.time.now()))
}
