package queue

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// Option sets up a WorkQueue. Options are checked by NewWorkQueue.
type Option func(*options) error

type options struct {
	name     string
	clock    clock.Clock
	metrics  workqueue.MetricsProvider
	limiter  any // a workqueue.TypedRateLimiter[K] for the queue's K
	tenant   any // a func(K) string for the queue's K
	ageing   int
	capacity int
	joined   bool
}

// WithName sets the name of the queue in metrics, logs and errors; otherwise it
// is the type of its keys.
func WithName(name string) Option {
	return func(o *options) error {
		if name == "" {
			return errors.New("the name is empty")
		}
		o.name = name
		return nil
	}
}

// WithClock sets the clock of the queue, otherwise the real one. The queue reads
// the clock and makes timers with it, and calls it with a lock held.
func WithClock(c clock.Clock) Option {
	return func(o *options) error {
		if c == nil {
			return errors.New("the clock is nil")
		}
		o.clock = c
		return nil
	}
}

// WithMetrics reports metrics to what provider makes for the queue's name,
// which has to be set: those of client-go's queue, with the meaning that they
// have there, and if provider is a MetricsProvider or a PriorityMetricsProvider,
// those too. Otherwise there are none: the provider that workqueue.SetProvider
// sets cannot be read.
//
// Metrics are called with a lock held, and must not call the queue.
func WithMetrics(provider workqueue.MetricsProvider) Option {
	return func(o *options) error {
		if provider == nil {
			return errors.New("the metrics provider is nil")
		}
		o.metrics = provider
		return nil
	}
}

// WithRateLimiter sets the rate limiter of AddRateLimited and Run, otherwise
// workqueue.DefaultTypedControllerRateLimiter. It is called without a lock.
func WithRateLimiter[K comparable](limiter workqueue.TypedRateLimiter[K]) Option {
	return func(o *options) error {
		if limiter == nil {
			return errors.New("the rate limiter is nil")
		}
		o.limiter = limiter
		return nil
	}
}

// WithFairness makes tenants take turns: see WorkQueue for how. The function
// tells whose a key is, the namespace for example. It is called without a lock,
// whenever a key is added, by the goroutine that adds it, and has to return the
// same for the same key.
func WithFairness[K comparable](tenant func(key K) string) Option {
	return func(o *options) error {
		if tenant == nil {
			return errors.New("the function that tells a key's tenant is nil")
		}
		o.tenant = tenant
		return nil
	}
}

// defaultAgeing is the number of keys that may be preferred to keys of a lower
// priority, if WithAgeing is not used: lower ones are then guaranteed 3 % of
// the work. It is a choice, not a measurement.
const defaultAgeing = 32

// WithAgeing bounds how often keys may be passed over for others of a higher
// priority: see WorkQueue. The default is 32.
func WithAgeing(passes int) Option {
	return func(o *options) error {
		if passes < 1 {
			return fmt.Errorf("keys cannot be passed over %d times, the least is 1", passes)
		}
		o.ageing = passes
		return nil
	}
}

// WithCapacity makes TryAdd say no when so many keys wait, are delayed, or are
// to be processed again. The other ways to add a key do not heed it.
func WithCapacity(keys int) Option {
	return func(o *options) error {
		if keys < 1 {
			return fmt.Errorf("the capacity is %d, the least is 1", keys)
		}
		o.capacity = keys
		return nil
	}
}

// WithJoinedDelays makes all adds of a key lead to one Get, at the earliest of
// their times and with the highest of their priorities, as controller-runtime's
// priority queue does: an add without a delay ends the key's delay, and one with
// a delay only counts for the priority if the key waits already, or will when it
// is done. Otherwise a delay is independent of adds without one, as in
// client-go.
//
// The queue's goroutine may stay until a delay would have passed that was ended.
func WithJoinedDelays() Option {
	return func(o *options) error {
		o.joined = true
		return nil
	}
}

// newOptions returns what opts say, and defaults.
func newOptions(opts []Option) (options, error) {
	o := options{clock: clock.RealClock{}, ageing: defaultAgeing}
	var errs []error
	for _, opt := range opts {
		if opt == nil {
			errs = append(errs, errors.New("an option is nil"))
		} else if err := opt(&o); err != nil {
			errs = append(errs, err)
		}
	}
	if o.metrics != nil && o.name == "" {
		errs = append(errs, errors.New("metrics need a name: use WithName"))
	}
	return o, errors.Join(errs...)
}

// limiterOf returns the rate limiter that o asks for.
func limiterOf[K comparable](o *options) (workqueue.TypedRateLimiter[K], error) {
	if o.limiter == nil {
		return workqueue.DefaultTypedControllerRateLimiter[K](), nil
	}
	limiter, ok := o.limiter.(workqueue.TypedRateLimiter[K])
	if !ok {
		return nil, fmt.Errorf("the rate limiter is a %T, and the queue's keys are of type %v", o.limiter, reflect.TypeFor[K]())
	}
	return limiter, nil
}

// tenantOf returns the function that tells a key's tenant, nil if o has none.
func tenantOf[K comparable](o *options) (func(K) string, error) {
	if o.tenant == nil {
		return nil, nil
	}
	tenant, ok := o.tenant.(func(K) string)
	if !ok {
		return nil, fmt.Errorf("fairness is by a %T, and the queue's keys are of type %v", o.tenant, reflect.TypeFor[K]())
	}
	return tenant, nil
}
