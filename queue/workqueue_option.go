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
	name         string
	clock        clock.Clock
	metrics      workqueue.MetricsProvider
	limiter      any // a workqueue.TypedRateLimiter[K] for the queue's K
	tenant       any // a func(K) string for the queue's K
	ageing       int
	capacity     int
	joinedDelays bool
	slow         slowness
}

// WithName sets the name of the queue in metrics, logs and errors. The default is
// the type of its keys.
func WithName(name string) Option {
	return func(o *options) error {
		if name == "" {
			return errors.New("the name is empty")
		}
		o.name = name
		return nil
	}
}

// WithClock sets the clock of the queue. The default is the real one. The queue
// calls it with a lock held. If it panics in a call, that changes nothing.
func WithClock(c clock.Clock) Option {
	return func(o *options) error {
		if c == nil {
			return errors.New("the clock is nil")
		}
		o.clock = c
		return nil
	}
}

// WithMetrics makes the queue report the metrics of client-go's queue, with the
// same meaning, to provider. If that is a [MetricsProvider] or a
// [PriorityMetricsProvider], the queue reports their metrics too. It needs a name,
// set by [WithName]. Without this option the queue has no metrics, since the
// provider that workqueue.SetProvider sets cannot be read.
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

// WithRateLimiter sets the rate limiter of AddRateLimited and Run. The default is
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

// WithFairness makes tenants take turns; [WorkQueue] says how. The function returns
// the tenant of a key, its namespace for example. It has to return the same tenant
// whenever it is called with the same key. It is called without a lock, by the
// goroutine that adds the key.
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

// WithAgeing sets how often keys may be passed over for others of a higher
// priority; [WorkQueue] says how that is counted. The default is 32.
func WithAgeing(passes int) Option {
	return func(o *options) error {
		if passes < 1 {
			return fmt.Errorf("keys cannot be passed over %d times, the least is 1", passes)
		}
		o.ageing = passes
		return nil
	}
}

// WithCapacity makes [WorkQueue.TryAdd] fail with ErrFull when that many keys wait,
// are delayed, or are to be processed again. The other methods that add a key
// ignore it.
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
// their times and with the highest of their priorities, as in controller-runtime's
// priority queue. An add without a delay ends the delay of the key. An add with a
// delay only raises the priority of a key that waits, or will when it is done.
// Without this option a delay is independent of other adds, as in client-go.
func WithJoinedDelays() Option {
	return func(o *options) error {
		o.joinedDelays = true
		return nil
	}
}

// newOptions returns what opts say, and defaults.
func newOptions(opts []Option) (options, error) {
	o := options{clock: clock.RealClock{}, ageing: defaultAgeing, slow: slowness{stuck: defaultStuck}}
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

// typed returns an option's value, which has to be a T as the keys are of type K, or nil.
func typed[T any, K comparable](what string, value any) (t T, err error) {
	t, ok := value.(T)
	if value != nil && !ok {
		err = fmt.Errorf("%s a %T, and the queue's keys are of type %v", what, value, reflect.TypeFor[K]())
	}
	return t, err
}
