package queueadds

import "k8s.io/client-go/util/workqueue"

// adder adds keys to the queue of a worker elsewhere.
type adder struct {
	queue workqueue.TypedRateLimitingInterface[string]
}

func (a *adder) add() { a.queue.AddRateLimited("a") }
