package queueforgets

import "k8s.io/client-go/util/workqueue"

type worker struct {
	queue workqueue.TypedRateLimitingInterface[string]
}

func (w *worker) work(err error) {
	if err != nil {
		w.queue.AddRateLimited("a")
		return
	}
	w.queue.Forget("a")
}
