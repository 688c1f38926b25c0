package queue

import (
	"errors"
	"fmt"
	"hash/maphash"
	"reflect"
	"runtime"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/internal/sparing"
)

// ErrShutDown is returned by a WorkQueue that was shut down.
var ErrShutDown = errors.New("queue: shut down")

// WorkQueue keeps the keys that have to be processed, and hands them out to
// workers. It is client-go's workqueue.TypedRateLimitingInterface, with the
// semantics that this has there:
//
//  1. Once. A key that waits is in the queue once, however often it is added.
//  2. One worker. A key is with one worker at a time. If it is added between
//     Get and Done, it waits again after Done, once.
//  3. Nothing is lost or made up. An add is followed by a Get of its key, and
//     happens before it; each Get is of a key that was added since the last one.
//  4. Delays. AddAfter adds a key when the delay has passed. Of several delays
//     of a key, the one that ends first counts. Other adds of the key make no
//     difference to it (but see WithJoinedDelays).
//  5. Shutdown. What waits is still handed out, and so is what was added while
//     it was being processed. What is delayed is dropped; what is added is
//     ignored.
//
// Who comes first:
//
//  6. Order. Keys of the same priority and tenant are handed out in the order
//     in which they took their place. A key does so when it is added; when its
//     delay ends; when its processing ends, if it was added meanwhile; and when
//     its priority is raised.
//  7. Priority. Keys of a higher priority come first.
//  8. Ageing. While keys of a priority wait, others may be handed out instead
//     as often in a row as WithAgeing says, 32 times without it. Then that
//     priority has the next turn; if there are several, the one that has been
//     passed over most often.
//  9. Fairness, WithFairness. The keys of one priority are handed out to the
//     tenants in turns, a key a turn. A tenant that had none waiting comes after
//     those that had.
//
// So nothing waits for ever: with ageing a, a key that was the n-th of its
// priority and tenant is among the next n·t·(a+p) keys that are handed out,
// where t is the largest number of tenants that meanwhile have keys of its
// priority waiting, 1 without fairness, and p that of priorities.
//
// It differs from client-go's queue where that does not do what it says:
//
//   - ShutDownWithDrain waits for what waits, too, and any number of calls may
//     wait. There it returns as soon as nothing is in process, although workers
//     may be about to get the next key, and of several calls, one returns.
//   - Done of a key that is not in process changes nothing. There, if the key
//     waits, it waits twice, and two workers may get it.
//
// Any key that a Go map can have will do. Keys that hold a NaN, which a map would
// not find again, or a slice in an interface, which would make it panic, are not
// added: TryAdd returns an error, and the other methods report one to
// utilruntime.HandleError.
//
// The queue is meant for a handful of priorities: the cost of an add grows with
// their number. It does not grow with the number of keys and tenants.
//
// All methods are safe for concurrent use, and none takes long, whatever the
// number of keys: the queue grows and shrinks in steps.
//
// The queue keeps memory for about 1,000 keys. What it has beyond that, it gives
// back when it has not needed it for half a minute to a minute, and all of it when
// it was shut down and holds no key. It allocates nothing while it has room. It
// has one goroutine while a key is delayed, metrics have to be set, or it has
// memory to give back, and none otherwise; ShutDown ends it.
type WorkQueue[K comparable] struct {
	name         string
	limiter      workqueue.TypedRateLimiter[K]
	tenant       func(K) string // nil: all keys have the same
	capacity     int            // 0: unbounded
	joinedDelays bool           // a key that waits, or will after its processing, is not delayed
	time         stopwatch
	seed         maphash.Seed
	validates    bool // keys are validated before they are used

	mu         sync.Mutex
	keys       table[K, entry] // guarded by mu; all that the queue knows of
	schedule   schedule[K]     // guarded by mu; those that wait
	sleepers   waitList        // guarded by mu
	inProcess  int             // guarded by mu; keys that are handed out
	inWork     rowList         // guarded by mu; the same, in the order in which they were
	dirty      int             // guarded by mu; of these, those that were added again
	delayed    int             // guarded by mu; keys that are to be added later
	delays     delayHeap       // guarded by mu; empty if no key is delayed
	retries    uint64          // guarded by mu
	metrics    *metrics[K]     // guarded by mu
	shutDown   bool            // guarded by mu
	cutShort   chan struct{}   // guarded by mu; closed and made anew by each ShutDown
	drained    chan struct{}   // closed when the queue is shut down and nothing is left
	background background
	trimmer    trimmer
	failures   failures[K] // has a lock of its own
	slow       slowness    // zero: no call is watched
	slowLog    sparing.Log
}

// NewWorkQueue returns an empty queue. It returns an error if an option cannot
// be used.
func NewWorkQueue[K comparable](opts ...Option) (*WorkQueue[K], error) {
	o, err := newOptions(opts)
	limiter, limiterErr := limiterOf[K](&o)
	tenant, tenantErr := tenantOf[K](&o)
	if o.name == "" {
		o.name = reflect.TypeFor[K]().String()
	}
	if err := errors.Join(err, limiterErr, tenantErr); err != nil {
		return nil, fmt.Errorf("work queue %s: %w", o.name, err)
	}
	q := &WorkQueue[K]{
		name:         o.name,
		limiter:      limiter,
		tenant:       tenant,
		capacity:     o.capacity,
		joinedDelays: o.joinedDelays,
		slow:         o.slow,
		time:         startStopwatch(o.clock),
		seed:         maphash.MakeSeed(),
		validates:    needsValidation(reflect.TypeFor[K]()),
		keys:         newTable[K, entry](),
		inWork:       newRowList(),
	}
	q.schedule = schedule[K]{
		keys:    &q.keys,
		fair:    tenant != nil,
		ageing:  uint64(o.ageing),
		flows:   newTable[flowKey, *node[flow]](),
		tenants: newTable[string, int](),
	}
	q.keys.released = func(page int32) {
		q.schedule.tenantOf.release(page)
		q.metrics.release(page)
	}
	q.metrics = newMetrics(o.metrics, o.name, q.time, &q.keys)
	q.cutShort = make(chan struct{})
	q.drained = make(chan struct{})
	q.background.run = q.runBackground
	q.background.wake = make(chan struct{}, 1)
	return q, nil
}

var _ workqueue.TypedRateLimitingInterface[string] = (*WorkQueue[string])(nil)

func (q *WorkQueue[K]) hash(key K) uint32 { return uint32(maphash.Comparable(q.seed, key)) }

// lock takes mu. A goroutine that finds it taken yields once before it waits: the
// lock is held so briefly that this costs less than to be put to sleep and woken,
// a sixth of the time where 16 goroutines share two processors.
func (q *WorkQueue[K]) lock() {
	if !q.mu.TryLock() {
		runtime.Gosched()
		q.mu.Lock()
	}
}

// Done marks a key that was handed out as processed. If it was added meanwhile,
// it waits again. Done of a key that is not being processed changes nothing, and
// is reported to utilruntime.HandleError.
func (q *WorkQueue[K]) Done(key K) {
	if !q.done(key) {
		utilruntime.HandleError(fmt.Errorf("work queue %s: Done was called with key %v, which is not being processed", q.name, key))
	}
}

func (q *WorkQueue[K]) done(key K) bool {
	if q.validate(key) != nil {
		return false
	}
	hash := q.hash(key)
	q.lock()
	n := q.keys.find(hash, key)
	var e *entry
	if n != noRow {
		e = &q.keys.row(n).value
	}
	if e == nil || !e.inState(processing) {
		q.mu.Unlock()
		return false
	}
	e.state &^= processing
	removeRow(&q.keys, &q.inWork, e)
	q.inProcess--
	q.metrics.processed(n)
	switch {
	case e.inState(dirty):
		e.state &^= dirty
		q.dirty--
		e.priority = e.nextPriority
		q.schedule.push(n, e, q.time.now())
	case e.state == 0:
		q.drop(n)
	}
	if q.shutDown && q.isIdle() {
		close(q.drained)
	}
	q.letGo()
	w := q.sleepers.next(q.schedule.len)
	q.mu.Unlock()
	wake(w)
	return true
}

// drop forgets the key of row n, which neither waits nor is delayed or in process.
// The caller holds mu.
func (q *WorkQueue[K]) drop(n int32) {
	if q.tenant != nil {
		q.schedule.removeKey(n)
	}
	q.keys.delete(n)
}

// isIdle reports whether nothing waits and nothing is in process. The caller
// holds mu.
func (q *WorkQueue[K]) isIdle() bool { return q.inProcess == 0 && q.schedule.len == 0 }

// Forget makes the rate limiter forget the failures of the key: it was processed,
// or will not be tried again. Done has to be called as well.
func (q *WorkQueue[K]) Forget(key K) {
	if q.validate(key) == nil {
		q.limiter.Forget(key)
	}
}

// NumRequeues returns how often the key was added with AddRateLimited since the
// last Forget, as the rate limiter has counted it.
func (q *WorkQueue[K]) NumRequeues(key K) int {
	if q.validate(key) != nil {
		return 0
	}
	return q.limiter.NumRequeues(key)
}
