package ctrlruntime

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/control"
)

// Requests adds keys to the queue of a controller whose requests are
// reconcile.Request, as most are:
//
//	control.Enqueue[*corev1.Pod](ctrlruntime.Requests(q))
//
// If q is nil, so is what it returns.
func Requests(q control.Adder[reconcile.Request]) control.Adder[index.Key] {
	if q == nil {
		return nil
	}
	return requests{q}
}

type requests struct {
	queue control.Adder[reconcile.Request]
}

func (r requests) AddWithOptions(key index.Key, o queue.AddOptions) {
	r.queue.AddWithOptions(reconcile.Request{NamespacedName: types.NamespacedName(key)}, o)
}

// adderOf returns the queue of a controller as an Adder. A controller always has a
// priority queue, or makes it look like one.
func adderOf[request comparable](q workqueue.TypedRateLimitingInterface[request]) control.Adder[request] {
	switch q := q.(type) {
	case control.Adder[request]:
		return q
	case priorityqueue.PriorityQueue[request]:
		return priorityAdder[request]{q}
	default:
		return adapters.Adder(q)
	}
}

type priorityAdder[request comparable] struct {
	queue priorityqueue.PriorityQueue[request]
}

func (a priorityAdder[request]) AddWithOptions(key request, o queue.AddOptions) {
	opts := priorityqueue.AddOpts{After: o.After, RateLimited: o.RateLimited}
	if o.Priority != 0 {
		opts.Priority = &o.Priority
	}
	a.queue.AddWithOpts(opts, key)
}
