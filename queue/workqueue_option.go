package queue

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/kubetyped/informer/internal/argument"
)

// Option sets up a WorkQueue. Options are checked by NewWorkQueue.
type Option func(*options) error

type options struct {
	name         string
	clock        clock.Clock
	provider     workqueue.MetricsProvider
	limiter      any // a workqueue.TypedRateLimiter[K] for the queue's K
	tenant       any // a func(K) string for the queue's K
	ageing       int
	capacity     int  // 0: unbounded
	joinedDelays bool // a key that waits, or will after its processing, is not delayed
	slow         slowness
}

// refuse returns an error that says why an option cannot be used, if so.
func refuse(so bool, why string, args ...any) error {
	if so {
		return fmt.Errorf(why, args...)
	}
	return nil
}

// WithName sets the name in metrics, logs and errors. The default is the type of the keys.
func WithName(name string) Option {
	return func(o *options) error {
		o.name = name
		return refuse(name == "", "the name is empty")
	}
}

// WithClock sets the clock of the queue. The default is the real one. The queue calls it with a
// lock held. If it panics in a call, that changes nothing.
func WithClock(c clock.Clock) Option {
	return func(o *options) error {
		o.clock = c
		return refuse(c == nil, "the clock is nil")
	}
}

// WithMetrics makes the queue report the metrics of client-go's queue, with the same meaning,
// to provider. If that is a [MetricsProvider] or a [PriorityMetricsProvider], the queue reports
// their metrics too. It needs a name, set by [WithName]. Without this option the queue has no
// metrics, since the provider that workqueue.SetProvider sets cannot be read.
//
// Metrics are called with a lock held, and must not call the queue.
func WithMetrics(provider workqueue.MetricsProvider) Option {
	return func(o *options) error {
		o.provider = provider
		return refuse(provider == nil, "the metrics provider is nil")
	}
}

// WithRateLimiter sets the rate limiter of AddRateLimited and Run. The default does as
// workqueue.DefaultTypedControllerRateLimiter. It is called without a lock.
func WithRateLimiter[K comparable](limiter workqueue.TypedRateLimiter[K]) Option {
	return func(o *options) error {
		o.limiter = limiter
		return refuse(limiter == nil, "the rate limiter is nil")
	}
}

// WithFairness makes tenants take turns; [WorkQueue] says how. The function returns the tenant
// of a key, its namespace for example. It has to return the same tenant whenever it is called
// with the same key. It is called without a lock, by the goroutine that adds the key.
func WithFairness[K comparable](tenant func(key K) string) Option {
	return func(o *options) error {
		o.tenant = tenant
		return refuse(tenant == nil, "the function that returns the tenant of a key is nil")
	}
}

// WithAgeing sets how often keys may be passed over for others of a higher priority;
// [WorkQueue] says how that is counted. The default is 32.
func WithAgeing(passes int) Option {
	return func(o *options) error {
		o.ageing = passes
		return refuse(passes < 1, "keys cannot be passed over %d times, the least is 1", passes)
	}
}

// WithCapacity makes [WorkQueue.TryAdd] fail with ErrFull when that many keys wait, are
// delayed, or are to be processed again. A key that waits and is delayed counts twice. The
// other methods that add a key ignore it.
func WithCapacity(keys int) Option {
	return func(o *options) error {
		o.capacity = keys
		return refuse(keys < 1, "the capacity is %d, the least is 1", keys)
	}
}

// WithJoinedDelays makes all adds of a key lead to one Get, at the earliest of their times and
// with the highest of their priorities, as in controller-runtime's priority queue. An add
// without a delay ends the delay of the key. An add with a delay only raises the priority of a
// key that waits, or will when it is done. Without this option, delays are as in client-go.
func WithJoinedDelays() Option {
	return func(o *options) error {
		o.joinedDelays = true
		return nil
	}
}

// newOptions returns what opts say, and defaults.
func newOptions(opts []Option) (options, error) {
	o := options{clock: clock.RealClock{}, ageing: 32 /* 3 % of the work for the lower ones */, slow: slowness{stuck: defaultStuck}}
	err := argument.ApplyOptions(&o, opts)
	return o, errors.Join(err, refuse(o.provider != nil && o.name == "", "metrics need a name: use WithName"))
}

// typed returns an option's value, which has to be a T as the keys are of type K, or nil.
func typed[T any, K comparable](what string, value any) (t T, err error) {
	t, ok := value.(T)
	if value != nil && !ok {
		err = fmt.Errorf("%s a %T, and the queue's keys are of type %v", what, value, reflect.TypeFor[K]())
	}
	return t, err
}
