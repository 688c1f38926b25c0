package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/timing"
)

// Run processes keys with the given number of workers until ctx ends, or the queue is shut down
// and nothing waits any more. It returns nil when every worker has come to its end. It returns
// an error at once if workers is less than 1 or process is nil. If the queue was shut down
// before, Run processes what waits, and then returns an error that wraps ErrShutDown.
//
// The result of process decides about the key:
//
//   - nil: it is done. The rate limiter forgets it.
//   - RequeueAfter: the same, and it is added once more after that time.
//   - TerminalError: it has failed, and is not retried. The rate limiter forgets it.
//   - Any other error: it has failed, and is added again when the rate limiter allows.
//
// Failures are logged. If the error wraps several of these, TerminalError counts before
// RequeueAfter, and of each the first that is found by errors.As. A key that is added again
// keeps its priority. If it was added while it was processed, it is processed again in any
// case.
//
// A panic of process is reported to utilruntime.PanicHandlers, as HandleCrash does, and counts
// as an error; it does not end the program. So does runtime.Goexit, but it ends the worker; Run
// returns an error when it was the last one.
//
// The function gets a context that ends with ctx and whose logger has the queue's name and the
// key as values.
//
// To stop at once, end ctx: no further key is handed out, and Run waits for the running calls.
// To stop after all waiting keys were processed, call ShutDown, Drain or ShutDownWithDrain
// instead; errors and RequeueAfter then have no effect. Either way the queue is shut down when
// Run returns, so none of its goroutines is left.
func (q *WorkQueue[K]) Run(ctx context.Context, workers int, process func(ctx context.Context, key K) error) error {
	switch {
	case workers < 1:
		return fmt.Errorf("work queue %s: it cannot be run by %d workers, the least is 1", q.name, workers)
	case process == nil:
		return fmt.Errorf("work queue %s: the function that processes keys is nil", q.name)
	}
	defer q.ShutDown()
	wasShutDown := q.ShuttingDown()
	r := &run[K]{q, process, klog.FromContext(ctx).WithValues("queue", q.name)}
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			w := r.newWatchdog()
			defer w.Stop()
			for r.work(ctx, w) {
			}
		})
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

// work processes a key, and reports whether there is more. If a clock panics, and that does
// not end the process, work returns after a while.
func (r *run[K]) work(ctx context.Context, w *timing.Watchdog[K]) (more bool) {
	more = true
	defer utilruntime.HandleCrash(goroutine.Pause)
	key, _, err := r.get(ctx, true)
	if err != nil {
		return false
	}
	r.handle(ctx, key, w)
	return true
}

var errExited = errors.New("the function has not returned") // the outcome of one that ends its goroutine

func (r *run[K]) handle(ctx context.Context, key K, w *timing.Watchdog[K]) {
	outcome := errExited
	defer func() {
		defer goroutine.Insist(func() { r.Done(key) })
		r.settle(ctx, key, w, outcome)
	}()
	outcome = goroutine.Try(ctx, func() error {
		ctx = klog.NewContext(ctx, r.logger.WithValues("key", key))
		return goroutine.Try(ctx, func() error {
			w.Begin(key)
			return r.process(ctx, key)
		})
	})
}

// settle acts on the outcome of a call. The error, the rate limiter and the logger are asked
// for that, and may panic as well: then the outcome is this panic.
func (r *run[K]) settle(ctx context.Context, key K, w *timing.Watchdog[K], outcome error) {
	panicked := goroutine.Try(ctx, func() error {
		r.logSlow(ctx, w.End())
		r.settled(ctx, key, outcome)
		return nil
	})
	if panicked != nil && goroutine.Try(ctx, func() error { r.retry(ctx, key, panicked); return nil }) != nil {
		goroutine.Insist(func() { r.AddAfter(key, time.Second) }) // the rate limiter cannot say when
	}
}

// settled does what an outcome asks for.
func (r *run[K]) settled(ctx context.Context, key K, outcome error) {
	after, requeue := IsRequeue(outcome)
	terminal := IsTerminal(outcome)
	if outcome != nil && !requeue && !terminal {
		r.retry(ctx, key, outcome)
		return
	}
	r.Forget(key)
	if terminal {
		r.results.terminal.Add(1)
		r.failures.failed(key, outcome, true, r.time.At(r.time.Now()))
		klog.FromContext(ctx).Error(outcome, "Processing has failed and is not retried")
		return
	}
	r.failures.succeeded(key)
	if !requeue {
		r.results.succeeded.Add(1)
		return
	}
	r.results.requeued.Add(1)
	r.AddAfter(key, after)
}

// retry adds a key that has failed again, when the rate limiter allows.
func (r *run[K]) retry(ctx context.Context, key K, outcome error) {
	r.results.failed.Add(1)
	r.AddRateLimited(key)
	if ctx.Err() == nil || !errors.Is(outcome, ctx.Err()) && !errors.Is(outcome, context.Cause(ctx)) {
		r.failures.failed(key, outcome, false, r.time.At(r.time.Now()))
		klog.FromContext(ctx).Error(outcome, "Processing has failed", "requeues", r.NumRequeues(key))
	}
}

// RequeueAfter returns an error that makes [WorkQueue.Run] process a key once more when d has
// passed, or at once if d is not positive. It does not count as a failure.
func RequeueAfter(d time.Duration) error { return &requeueError{after: d} }

type requeueError struct{ after time.Duration }

func (e *requeueError) Error() string { return fmt.Sprintf("requeue after %v", e.after) }

// TerminalError returns an error for which [WorkQueue.Run] does not retry the key: only
// another add of the key processes it again. Use it for errors that a retry cannot fix. It
// wraps err, which may be nil.
func TerminalError(err error) error { return &terminalError{err: err} }

type terminalError struct{ err error }

func (e *terminalError) Error() string {
	if e.err == nil {
		return "terminal error"
	}
	return "terminal error: " + e.err.Error()
}

// Unwrap returns the error that is terminal.
func (e *terminalError) Unwrap() error { return e.err }

// IsRequeue reports whether [WorkQueue.Run] processes a key once more for err alone, as
// RequeueAfter asks for, and after what time.
func IsRequeue(err error) (after time.Duration, ok bool) {
	requeue, ok := errors.AsType[*requeueError](err)
	if !ok || IsTerminal(err) {
		return 0, false
	}
	return requeue.after, true
}

// IsTerminal reports whether err is, or wraps, one of TerminalError.
func IsTerminal(err error) bool {
	_, ok := errors.AsType[*terminalError](err)
	return ok
}
