package adapters

import (
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/control"
)

// Adder returns a client-go work queue as what typed handlers put keys in:
//
//	pods.Handle(control.Enqueue[*corev1.Pod](adapters.Adder(q)))
//
// Delays and rate limits are kept; if a key has both, the queue gets both, of
// which the one that ends first counts, as it does for every key that is added
// more than once. Priorities are left out: client-go's queues have none.
//
// A queue that is a control.Adder itself, as every *queue.WorkQueue is, is
// returned as it is. The other way round nothing is needed: a *queue.WorkQueue
// is a workqueue.TypedRateLimitingInterface. It returns nil if q is nil.
func Adder[K comparable](q workqueue.TypedRateLimitingInterface[K]) control.Adder[K] {
	switch q := q.(type) {
	case nil:
		return nil
	case control.Adder[K]:
		return q
	default:
		return rateLimitedAdder[K]{queue: q}
	}
}

// rateLimitedAdder is an Adder of a client-go work queue.
type rateLimitedAdder[K comparable] struct {
	queue workqueue.TypedRateLimitingInterface[K]
}

// AddWithOptions implements control.Adder.
func (a rateLimitedAdder[K]) AddWithOptions(key K, o queue.AddOptions) {
	if o.After > 0 {
		a.queue.AddAfter(key, o.After)
	}
	if o.RateLimited {
		a.queue.AddRateLimited(key)
	}
	if o.After <= 0 && !o.RateLimited {
		a.queue.Add(key)
	}
}
