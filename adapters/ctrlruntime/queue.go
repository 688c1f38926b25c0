package ctrlruntime

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/control"
)

// Queue is a queue.WorkQueue that works as controller-runtime's priority queue
// (priorityqueue.New), wherever handlers, sources and controllers depend on that:
//
//   - One Get for all adds. An add without a delay ends the delay that a request
//     has, and of several delays the one that ends first counts. A delay of a
//     request that waits already changes nothing. So a RequeueAfter is over when
//     an event comes first.
//   - The highest priority of all adds counts. For one that is raised, a request goes to the
//     end of its new line. A request that is added while it is processed starts again;
//     GetWithPriority returns the priority, with which a controller adds it again.
//   - Shutdown. ShutDown drops waiting requests: no request is handed out once it has
//     returned, so that a controller that has lost its lease reconciles no more.
//     ShutDownWithDrain hands out what waits, as client-go's does.
//
// It differs where nothing depends on it, or where controller-runtime has a
// shortcoming:
//
//   - Low priorities are not starved. After 32 requests of higher priorities in a
//     row, one of a lower gets its turn; queue.WithAgeing sets the number. Use
//     math.MaxInt for priorities that are strict.
//   - A request that is added while it is being processed takes its place when it
//     is done; one that is delayed, when its delay ends or is ended.
//   - Add and the like take effect before they return, so do rate limiters.
//     Everything may be called after ShutDown, which may be called again. There is
//     one goroutine while something is delayed or metrics have to be set, none
//     otherwise.
//   - ShutDownWithDrain waits until all is processed, as it does in client-go;
//     controllers do not call it.
//   - Waiting requests are not logged at verbosity 5. Stats returns them.
//
// In addition, an add and a Get cost less (see BenchmarkQueue), and the queue can be fair, see
// queue.WithFairness.
//
// It is also a control.Adder. All methods are safe for concurrent use.
type Queue[request comparable] struct {
	keys  *queue.WorkQueue[request]
	ended atomic.Bool // no request is handed out any more
}

func _[request comparable]() {
	var _ priorityqueue.PriorityQueue[request] = (*Queue[request])(nil)
	var _ control.Adder[request] = (*Queue[request])(nil)
}

// NewQueue returns an empty queue. Unless queue.WithRateLimiter says something
// else, retries of a request are delayed by 5 ms, doubled with each, up to 1,000 s,
// as in controller-runtime. It returns an error if an option cannot be used.
//
// Controllers get theirs from ConfigureController.
func NewQueue[request comparable](opts ...queue.Option) (*Queue[request], error) {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[request](5*time.Millisecond, 1000*time.Second)
	all := append([]queue.Option{queue.WithRateLimiter(limiter)}, opts...)
	keys, err := queue.NewWorkQueue[request](append(all, queue.WithJoinedDelays())...)
	if err != nil {
		return nil, err
	}
	return &Queue[request]{keys: keys}, nil
}

// Add makes the request wait, with priority 0.
func (q *Queue[request]) Add(item request) { q.keys.Add(item) }

// AddAfter makes the request wait after d has passed, with priority 0.
func (q *Queue[request]) AddAfter(item request, d time.Duration) {
	q.AddWithOptions(item, queue.AddOptions{After: d})
}

// AddRateLimited makes the request wait after the delay that the rate limiter
// gives, with priority 0.
func (q *Queue[request]) AddRateLimited(item request) {
	q.AddWithOptions(item, queue.AddOptions{RateLimited: true})
}

// AddWithOpts makes each of the requests wait as o says. If o has a delay and is
// rate limited, the shorter delay counts.
func (q *Queue[request]) AddWithOpts(o priorityqueue.AddOpts, items ...request) {
	options := queue.AddOptions{After: o.After, RateLimited: o.RateLimited}
	if o.Priority != nil {
		options.Priority = *o.Priority
	}
	for _, item := range items {
		q.AddWithOptions(item, options)
	}
}

// AddWithOptions makes the request wait as o says.
func (q *Queue[request]) AddWithOptions(item request, o queue.AddOptions) {
	if q.keys.ShuttingDown() {
		return // the rate limiter is not to count it
	}
	q.keys.AddWithOptions(item, o)
}

// Get hands out the request whose turn it is, and waits for one if there is none.
// The caller has to call Done with it. It returns true when the queue was shut
// down.
func (q *Queue[request]) Get() (item request, shutDown bool) {
	item, _, shutDown = q.GetWithPriority()
	return item, shutDown
}

// GetWithPriority does as Get, and also returns the priority with which the
// request was waiting.
func (q *Queue[request]) GetWithPriority() (item request, priority int, shutDown bool) {
	if q.ended.Load() {
		return item, 0, true
	}
	key, priority, err := q.keys.GetWithPriority(context.Background())
	if err != nil {
		return item, 0, true
	}
	if q.ended.Load() { // while it was waiting
		q.keys.Done(key)
		return item, 0, true
	}
	return key, priority, false
}

// Done reports that a request that was handed out has been processed. If it was added
// meanwhile, it waits again.
func (q *Queue[request]) Done(item request) { q.keys.Done(item) }

// Forget resets the rate limiter for the request, after it was processed.
func (q *Queue[request]) Forget(item request) { q.keys.Forget(item) }

// NumRequeues returns how often the request was added rate limited since the last Forget, as
// the rate limiter reports it.
func (q *Queue[request]) NumRequeues(item request) int { return q.keys.NumRequeues(item) }

// Len returns how many requests wait, with those that will when they are done; not
// those that are delayed.
func (q *Queue[request]) Len() int {
	s := q.keys.Stats()
	return s.Waiting + s.Dirty
}

// Stats returns what is in the queue. After ShutDown, that is also what will not be
// handed out any more.
func (q *Queue[request]) Stats() queue.Stats { return q.keys.Stats() }

// ShutDown makes the queue ignore what is added from now on, and drops what waits
// or is delayed. It ends a ShutDownWithDrain. None of the queue's goroutines is left
// when it returns.
func (q *Queue[request]) ShutDown() {
	q.ended.Store(true)
	q.keys.ShutDown()
}

// ShutDownWithDrain makes the queue ignore what is added from now on, drops what is
// delayed, and waits until what waits has been handed out and is done, or ShutDown
// is called.
func (q *Queue[request]) ShutDownWithDrain() { q.keys.ShutDownWithDrain() }

// ShuttingDown reports whether the queue was shut down.
func (q *Queue[request]) ShuttingDown() bool { return q.keys.ShuttingDown() }
