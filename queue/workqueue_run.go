package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
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
	r := run[K]{WorkQueue: q, process: process, logger: klog.FromContext(ctx).WithValues("queue", q.name)}
	r.watchdog = newWatchdog(q, r.logger, workers)
	var group errgroup.Group
	for worker := range workers {
		group.Go(func() error {
			r.work(ctx, r.watchdog.newWorker(worker))
			return nil
		})
	}
	_ = group.Wait()
	r.watchdog.stop()
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
	process  func(ctx context.Context, key K) error
	logger   klog.Logger
	watchdog *watchdog[K] // nil: no call is watched
}

// work is what a worker does.
func (r *run[K]) work(ctx context.Context, calls *calls[K]) {
	for {
		key, _, err := r.get(ctx, true)
		if err != nil {
			return
		}
		r.handle(klog.NewContext(ctx, r.logger.WithValues("key", key)), key, calls)
	}
}

// errExited is the outcome of a function that ends its goroutine.
var errExited = errors.New("the function has not returned")

func (r *run[K]) handle(ctx context.Context, key K, calls *calls[K]) {
	outcome := errExited
	calls.begin(key)
	defer func() {
		defer r.Done(key)
		r.settle(ctx, key, calls, outcome)
	}()
	outcome = contain(ctx, func() error { return r.process(ctx, key) })
}

// settle does what the outcome of a call asks for. What is asked for that, the error, the
// rate limiter and the logger, may panic as well: then the outcome is this panic.
func (r *run[K]) settle(ctx context.Context, key K, calls *calls[K], outcome error) {
	panicked := contain(ctx, func() error {
		calls.end(ctx)
		r.settled(ctx, key, outcome)
		return nil
	})
	if panicked == nil {
		return
	}
	if again := contain(ctx, func() error { r.retry(ctx, key, panicked); return nil }); again != nil {
		r.AddAfter(key, retryAfterPanic)
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
		r.Forget(key)
		r.failures.succeeded(key)
	case errors.As(outcome, &terminal):
		r.Forget(key)
		r.failed(key, outcome, true)
		klog.FromContext(ctx).Error(outcome, "Processing has failed and is not tried again")
	case errors.As(outcome, &requeue):
		r.Forget(key)
		r.failures.succeeded(key)
		r.AddAfter(key, requeue.after)
	default:
		r.retry(ctx, key, outcome)
	}
}

// retry has a key that has failed tried again when the rate limiter allows.
func (r *run[K]) retry(ctx context.Context, key K, outcome error) {
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
