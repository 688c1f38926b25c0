package control

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/typed"
)

// defaultDrainTimeout is what WithDrainTimeout says it is.
const defaultDrainTimeout = 20 * time.Second

// ErrEnded means that an informer, a queue or the elector stopped before its context ended.
// Run returns it.
var ErrEnded = errors.New("component stopped before its context ended")

// Run runs a controller until ctx ends, its parts in the order in which they need
// each other:
//
//  1. All informers are started, and Run waits until they and the arguments of WithSynced are
//     synced.
//  2. With an elector, it waits until this process leads. The informers run
//     meanwhile, so that the process is ready when it is its turn.
//  3. The workers of all queues are started.
//  4. When ctx ends, members of shard groups hand over, for half of the drain timeout at most,
//     while the workers continue. Then the queues are drained: no key is added any more, and
//     those that wait are processed. Running reconciles keep their contexts, and the informers
//     keep running, so the last reconciles read current objects. After the drain timeout the
//     contexts of the calls end, and Run waits for the calls.
//  5. The lead is given up, so that another process can begin.
//  6. The informers are stopped, and Run waits for their goroutines; those that another Run
//     also uses continue until that one stops.
//  7. The queues are shut down, whether workers ever ran or not.
//
// If the lead is lost, the contexts of the calls end at once, as another process
// may lead already; then all else stops, and Run returns an error that wraps
// ErrLeadLost and the cause that the elector gave. If an informer or a queue ends by
// itself, Run stops as if ctx had ended, and returns an error that wraps its error, or
// ErrEnded if it gave none.
//
// Run returns nil if ctx ended while the workers ran, or while it waited to become leader, and
// all keys were drained. It returns the error of WaitForSync if ctx ends before that, the
// errors of the options, and an error with the number of remaining keys if the drain timeout
// has passed or all workers of a queue have ended. A panic of an informer, a queue or the elector is reported by
// utilruntime.HandleCrash; where that does not end the program, it is an error that the part
// has ended with.
func Run(ctx context.Context, opts ...RunOption) error {
	c := runConfig{drainTimeout: defaultDrainTimeout}
	if err := argument.ApplyOptions(&c, opts); err != nil {
		return fmt.Errorf("the controller is not run: %w", err)
	}
	if len(c.workers) == 0 {
		return errors.New("the controller is not run: it has no workers, see WithWorkers")
	}
	r := runner{runConfig: c}
	r.ending, r.stop = context.WithCancel(ctx)
	defer r.stop()
	return r.run(ctx)
}

// runner is one call of Run.
type runner struct {
	runConfig

	ending context.Context // ends when everything is to stop
	stop   func()

	mu   sync.Mutex
	errs []error // guarded by mu
}

func (r *runner) run(ctx context.Context) error {
	// What must not end with ctx has its values all the same.
	lasting := context.WithoutCancel(ctx)
	informing, stopInforming := context.WithCancel(lasting)
	var informers sync.WaitGroup
	for _, informer := range r.informers {
		informers.Go(func() {
			name := "informer"
			err := goroutine.Contain(informing, "it", func() error {
				name += " " + informer.Name()
				if joint, ok := informer.(jointly); ok {
					return joint.RunJointly(informing, informer.Run)
				}
				return informer.Run(informing)
			})
			if errors.Is(err, typed.ErrStarted) {
				err = fmt.Errorf("%w; use WithSynced in place of WithInformers if other code runs it", err)
			}
			r.ended(informing, name, err)
		})
	}
	if r.waitForSync() {
		r.lead(lasting)
	}
	stopInforming()
	informers.Wait()
	for _, w := range r.workers { // which may never have run
		if err := goroutine.Contain(lasting, "a queue that is shut down", func() error { w.shutDown(); return nil }); err != nil {
			r.fail(err)
		}
	}
	return errors.Join(r.errs...)
}

// waitForSync reports whether everything is synced.
func (r *runner) waitForSync() bool {
	for _, synced := range r.synced {
		if err := goroutine.Contain(r.ending, "what is waited for", func() error { return synced.WaitForSync(r.ending) }); err != nil {
			r.fail(err)
			return false
		}
	}
	return true
}

// lead runs the workers while this process leads.
func (r *runner) lead(lasting context.Context) {
	if r.elector == nil {
		r.work(lasting)
		return
	}
	electing, resign := context.WithCancel(lasting)
	defer resign()
	led := false
	forget := context.AfterFunc(r.ending, func() { // while it waits; work drains first
		r.mu.Lock()
		defer r.mu.Unlock()
		if !led {
			resign()
		}
	})
	defer forget()
	err := goroutine.Contain(electing, "the elector", func() error {
		return r.elector.Elect(electing, func(leading context.Context) {
			r.mu.Lock()
			led = electing.Err() == nil
			r.mu.Unlock()
			if led { // and not only since all is to stop
				r.work(leading)
			}
			resign()
		})
	})
	if electing.Err() == nil && err == nil {
		err = ErrEnded
	}
	if electing.Err() == nil || err != nil && !errors.Is(err, context.Canceled) {
		r.fail(fmt.Errorf("election: %w", err))
	}
}

// work runs the workers until everything is to stop, or the lead is lost.
func (r *runner) work(leading context.Context) {
	working, stopWorking := context.WithCancel(leading)
	defer stopWorking()
	var workers sync.WaitGroup
	for i := range r.workers {
		w := &r.workers[i]
		var left func()
		w.served, left = context.WithCancel(context.WithoutCancel(leading))
		defer left()
		workers.Go(func() {
			err := goroutine.Contain(working, "the queue", func() error { return w.run(working) })
			if err != nil { // unless it is drained
				left()
			}
			if working.Err() == nil {
				r.ended(r.ending, w.name, err)
			}
		})
	}
	select {
	case <-r.ending.Done():
	case <-leading.Done():
	}
	if r.ending.Err() != nil {
		r.drain(leading)
	}
	if leading.Err() != nil {
		err := ErrLeadLost
		if cause := context.Cause(leading); cause != context.Canceled {
			err = fmt.Errorf("%w: %w", ErrLeadLost, cause)
		}
		r.fail(err)
	}
	r.stop()
	stopWorking()
	workers.Wait()
}

// errUnserved ends the drain of a queue that no worker would drain.
var errUnserved = errors.New("no workers are left")

// drain waits until the workers have done what there is, or it takes too long.
func (r *runner) drain(leading context.Context) {
	draining, cancel := context.WithTimeout(leading, r.drainTimeout)
	defer cancel()
	r.handOver(draining)
	var queues sync.WaitGroup
	for _, w := range r.workers {
		queues.Go(func() {
			ctx, cancel := context.WithCancelCause(draining)
			defer cancel(nil)
			defer context.AfterFunc(w.served, func() { cancel(errUnserved) })()
			err := goroutine.Contain(ctx, "the queue", func() error { return w.drain(ctx) })
			switch {
			case err == nil:
			case errors.Is(draining.Err(), context.DeadlineExceeded):
				r.fail(fmt.Errorf("the drain was given up after %v: %w", r.drainTimeout, err))
			default:
				r.fail(fmt.Errorf("the drain has failed: %w", err))
			}
		})
	}
	queues.Wait()
}

// handOver waits until other members of groups have taken over, unless something has failed.
func (r *runner) handOver(ctx context.Context) {
	r.mu.Lock()
	failed := len(r.errs) > 0
	r.mu.Unlock()
	if failed {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, r.drainTimeout/2)
	defer cancel()
	var members sync.WaitGroup
	for _, informer := range r.informers {
		if member, ok := informer.(leaver); ok {
			members.Go(func() {
				if err := goroutine.Contain(ctx, "a group", func() error { member.Leave(ctx); return nil }); err != nil {
					r.fail(err)
				}
			})
		}
	}
	members.Wait()
}

// ended notes that a part has ended. That is a failure unless the part was to stop.
func (r *runner) ended(ctx context.Context, what string, err error) {
	if err == nil && ctx.Err() == nil {
		err = ErrEnded
	}
	switch {
	case err == nil:
	case strings.HasPrefix(err.Error(), what+": "): // informers of package typed name themselves
		r.fail(err)
	default:
		r.fail(fmt.Errorf("%s: %w", what, err))
	}
}

// fail notes an error, and has everything stop.
func (r *runner) fail(err error) {
	r.mu.Lock()
	r.errs = append(r.errs, err)
	r.mu.Unlock()
	r.stop()
}
