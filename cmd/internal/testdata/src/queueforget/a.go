package queueforget

import "k8s.io/client-go/util/workqueue"

func retry(queue workqueue.TypedRateLimitingInterface[string]) { queue.AddRateLimited("a") }

type worker struct {
	queue workqueue.TypedRateLimitingInterface[string]
}

func (w *worker) work() {
	key, _ := w.queue.Get()
	defer w.queue.Done(key)
	w.queue.AddAfter("a", 1)
	w.queue.AddRateLimited("a") // want `the package never calls Forget`
}
