// Package queue contains the queues of a controller.
//
// A [DeltaFIFO] stands between a source of changes and the store: the source never waits for
// the work that its changes cause, and the store takes all that has come in with one swap.
//
// A [WorkQueue] stands between event handlers and the workers that reconcile: it keeps each
// key once, hands it to one worker at a time, delays, retries and orders keys. It replaces
// client-go's workqueue.TypedRateLimitingInterface.
package queue

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/internal/container"
	"github.com/kubetyped/informer/internal/loglimit"
	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/internal/timing"
)

// ErrShutDown is returned by a WorkQueue that was shut down.
var ErrShutDown = errors.New("queue: shut down")

// WorkQueue keeps the keys that have to be processed, and hands them out to workers. It is
// client-go's workqueue.TypedRateLimitingInterface, with the semantics that this has there:
//
//  1. Once. A key that waits is in the queue once, however often it is added.
//  2. One worker. A key is with one worker at a time. If it is added between Get and Done,
//     it waits again after Done, once.
//  3. Nothing is lost or made up. An add is followed by a Get of its key, and happens before
//     it; each Get is of a key that was added since the last one.
//  4. Delays. AddAfter adds a key when the delay has passed. Of several delays of a key, the
//     one that ends first counts. Other adds of the key make no difference to it (but see
//     WithJoinedDelays).
//  5. Shutdown. Waiting keys are still handed out, including those added while they were
//     processed. Delayed keys are dropped; later adds are ignored.
//
// The order of keys:
//
//  6. Order. Keys of the same priority and tenant are handed out in the order in which they
//     took their place. A key does so when it is added, when its delay ends, when its
//     processing ends if it was added meanwhile, and when its priority is raised.
//  7. Priority. Keys of a higher priority come first.
//  8. Ageing. While keys of a priority wait, others may be handed out instead as often in a
//     row as WithAgeing says, 32 times without it. Then that priority has the next turn; if
//     there are several, the one that has been passed over most often.
//  9. Fairness, WithFairness. The keys of one priority are handed out to the tenants in
//     turns, a key a turn. A tenant that had none waiting comes after those that had.
//
// So no key waits forever: with ageing a, a key that was the n-th of its priority and tenant
// is among the next n·t·(a+p) keys that are handed out, where t is the largest number of
// tenants that meanwhile have keys of its priority waiting, 1 without fairness, and p that of
// priorities.
//
// It differs from client-go's queue where that one differs from its documentation:
//
//   - ShutDownWithDrain also waits for waiting keys, in any number of calls. There it returns
//     as soon as no key is processed, and only one of several calls returns.
//   - Done of a key that is not being processed changes nothing. There, a waiting key then
//     waits twice, and two workers may get it.
//
// Any key that a Go map can have will do. Keys that hold a NaN, which a map would not find
// again, or a slice in an interface, which would make it panic, are not added: TryAdd returns
// an error, and the other methods report one to utilruntime.HandleError.
//
// All methods are safe for concurrent use, and none takes long, whatever the number of keys:
// the queue grows and shrinks in steps. Stats, Report and, twice a second, metrics look at each
// tenant that has keys waiting, and metrics at each key in process. It is meant for a handful of
// priorities.
//
// The queue keeps memory for about 1,000 keys. It frees more memory than that after half a
// minute to a minute without use, and all of it after shutdown, when it holds no key, except
// for the failures that Report lists. It allocates nothing while it has room. It has one
// goroutine while a key is delayed, metrics have to be set, or it has memory to give back;
// ShutDown ends it.
//
// NewWorkQueue makes queues: a zero WorkQueue cannot be used.
type WorkQueue[K comparable] struct {
	options
	limiter   workqueue.TypedRateLimiter[K]
	tenant    func(K) string // nil: all keys have the same
	time      timing.Stopwatch
	validates bool // keys are validated before they are used
	refers    bool // keys keep others alive

	mu        monitor.Lock[request[K]] // adds that find it taken are left to who holds it
	keys      keyTable[K]              // guarded by mu; all that the queue knows of
	schedule  schedule[K]              // guarded by mu; those that wait
	inWork    container.List[entry[K]] // guarded by mu; those that are handed out, in order
	inProcess int                      // guarded by mu; how many these are
	dirty     int                      // guarded by mu; of these, those that were added again
	delays    container.Heap[entry[K]] // guarded by mu; keys that are to be added later
	sleepers  monitor.Sleepers         // guarded by mu; workers
	alarm     *timing.Alarm            // guarded by mu; for delayed keys, metrics and memory
	retries   uint64                   // guarded by mu
	metrics   *metrics                 // guarded by mu
	memory    memory                   // guarded by mu
	shutDown  bool                     // guarded by mu
	cutShort  chan struct{}            // guarded by mu; closed and replaced by each ShutDown
	drained   chan struct{}            // closed when the queue is shut down and nothing is left

	failures failures[K] // has its own lock
	results  results
	slowLog  loglimit.Log
}

// NewWorkQueue returns an empty queue. It returns an error if an option cannot be used.
func NewWorkQueue[K comparable](opts ...Option) (*WorkQueue[K], error) {
	o, err := newOptions(opts)
	limiter, limiterErr := typed[workqueue.TypedRateLimiter[K], K]("the rate limiter is", o.limiter)
	tenant, tenantErr := typed[func(K) string, K]("fairness is by", o.tenant)
	if limiter == nil {
		limiter = timing.NewLimiter[K]()
	}
	of := reflect.TypeFor[K]()
	o.name = cmp.Or(o.name, of.String())
	if err := errors.Join(err, limiterErr, tenantErr); err != nil {
		return nil, fmt.Errorf("work queue %s: %w", o.name, err)
	}
	q := &WorkQueue[K]{
		options:   o,
		limiter:   limiter,
		tenant:    tenant,
		time:      timing.StartStopwatch(o.clock),
		validates: argument.KeyNeedsCheck(of),
		refers:    argument.KeyRefers(of),
		schedule:  schedule[K]{ageing: uint64(o.ageing), tenants: tenants[K]{fair: tenant != nil}},
		memory:    memory{next: timing.Never},
		cutShort:  make(chan struct{}),
		drained:   make(chan struct{}),
	}
	q.mu.Do(q.makeLeft)
	q.alarm = timing.NewAlarm(&q.time, q.catchUp)
	q.metrics = newMetrics(o.provider, o.name, q.crashed)
	return q, nil
}

func _[K comparable]() { var _ workqueue.TypedRateLimitingInterface[K] = (*WorkQueue[K])(nil) }

// Forget makes the rate limiter forget the failures of the key: it was processed, or will not
// be tried again. Done has to be called as well.
func (q *WorkQueue[K]) Forget(key K) {
	if q.validate(key) == nil {
		q.limiter.Forget(key)
	}
}

// NumRequeues returns how often the rate limiter was asked for the key since the last Forget.
func (q *WorkQueue[K]) NumRequeues(key K) int {
	if q.validate(key) != nil {
		return 0
	}
	return q.limiter.NumRequeues(key)
}

// validate returns an error if the key cannot be used.
func (q *WorkQueue[K]) validate(key K) error {
	if q.validates {
		return argument.CheckKey(key)
	}
	return nil
}
