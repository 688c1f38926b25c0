package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/queue"
)

// ErrLeadLost means that this process no longer leads, or cannot report whether it does. Most
// programs then end, and are started again.
var ErrLeadLost = errors.New("the lead was lost")

// Informer is what Run needs of an informer, which *typed.Informer has, and *shard.Group.
type Informer interface {
	Synced
	// Name returns what the informer is called in errors.
	Name() string
	// Run runs the informer until ctx ends, and then returns nil.
	Run(ctx context.Context) error
}

// jointly is what an informer has that several Runs may be given: RunJointly calls run, which
// is its Run, once for all of them.
type jointly interface {
	RunJointly(ctx context.Context, run func(ctx context.Context) error) error
}

// leaver is what an informer has that is a member of a group: Leave returns when others have
// taken over, or ctx ends.
type leaver interface {
	Leave(ctx context.Context)
}

// Synced is what Run waits for before it starts workers, such as an informer of a
// factory, or the registration of a handler.
type Synced interface {
	// WaitForSync waits until everything is there. It returns an error that reports what is
	// not when ctx ends before.
	WaitForSync(ctx context.Context) error
}

// Queue is what Run needs of a queue of keys, which *queue.WorkQueue has.
type Queue[K comparable] interface {
	// Run processes keys by a number of workers until ctx ends, or the queue has
	// been drained, and then returns nil.
	Run(ctx context.Context, workers int, process func(ctx context.Context, key K) error) error
	// Drain lets no more keys in, and waits until those that are there have been processed.
	// It returns an error that reports what is left when ctx ends before.
	Drain(ctx context.Context) error
	// ShutDown ends Run, which leaves the remaining keys. No goroutine of the queue is
	// left when it returns.
	ShutDown()
}

// Elector decides which one of several processes leads.
type Elector interface {
	// Elect waits until this process leads, and then calls lead, with a context that ends
	// when it does not lead any more, or ctx ends; Run returns the context's cause. Elect keeps
	// the lead until lead returns, then gives it up, and returns. The error is that of ctx if
	// that ended before this process led, or reports why the election cannot be held.
	Elect(ctx context.Context, lead func(ctx context.Context)) error
}

// RunOption is a part of what Run runs, or sets up how.
type RunOption func(*runConfig) error

type runConfig struct {
	informers    []Informer
	synced       []Synced
	workers      []workers
	elector      Elector
	drainTimeout time.Duration
}

// workers are the workers of one queue.
type workers struct {
	name       string
	run, drain func(ctx context.Context) error
	shutDown   func()
	served     context.Context // ends when they have failed
}

// WithInformers makes informers run before everything else and longer than everything else.
// Several Runs may be given the same *typed.Informer or *shard.Group, which then runs until
// the last of them has no more use for it.
func WithInformers(informers ...Informer) RunOption {
	return func(c *runConfig) error {
		for _, informer := range informers {
			if argument.IsNil(informer) {
				return errors.New("WithInformers: informer is nil")
			}
			c.informers = append(c.informers, informer)
			c.synced = append(c.synced, informer)
		}
		return nil
	}
}

// WithSynced makes Run wait for informers of a factory, or for registrations of handlers,
// which run elsewhere.
func WithSynced(synced ...Synced) RunOption {
	return func(c *runConfig) error {
		for _, s := range synced {
			if argument.IsNil(s) {
				return errors.New("what is to be synced is nil")
			}
			c.synced = append(c.synced, s)
		}
		return nil
	}
}

// WithWorkers makes the keys of a queue reconciled by a number of workers. It may be given for
// several queues.
func WithWorkers[K comparable](q Queue[K], n int, reconcile func(ctx context.Context, key K) error) RunOption {
	return func(c *runConfig) error {
		switch {
		case argument.IsNil(q):
			return errors.New("WithWorkers: queue is nil")
		case n < 1:
			return fmt.Errorf("a queue cannot be run by %d workers, the least is 1", n)
		case reconcile == nil:
			return errors.New("WithWorkers: reconcile function is nil")
		}
		name := "the workers of a queue"
		if reporting, ok := any(q).(interface{ Report(n int) queue.Report }); ok {
			name = "work queue " + reporting.Report(0).Name // as its errors have it
		}
		c.workers = append(c.workers, workers{
			name:  name,
			run:   func(ctx context.Context) error { return q.Run(ctx, n, reconcile) },
			drain: q.Drain, shutDown: q.ShutDown,
		})
		return nil
	}
}

// WithElector makes the workers run while this process leads, and not otherwise. Package
// typed/kube/election has one that uses a Lease of the API server.
func WithElector(e Elector) RunOption {
	return func(c *runConfig) error {
		if argument.IsNil(e) {
			return errors.New("WithElector: elector is nil")
		}
		c.elector = e
		return nil
	}
}

// WithDrainTimeout sets how long Run waits for the workers after ctx ends; 0 means that it
// does not wait, and leaves waiting keys. The default is 20 seconds, which is less than the 30
// that a Pod is given to end.
func WithDrainTimeout(d time.Duration) RunOption {
	return func(c *runConfig) error {
		if d < 0 {
			return fmt.Errorf("the drain timeout %v is negative", d)
		}
		c.drainTimeout = d
		return nil
	}
}
