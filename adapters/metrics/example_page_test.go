package metrics_test

import (
	"github.com/kubetyped/informer/adapters/metrics"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/control"
)

var _ = addQueue

// addQueue is code of docs/reference/metrics.md, compiled and not run.
func addQueue(m *metrics.Metrics, expectations *control.Expectations[index.Key]) error {
	q, err := queue.NewWorkQueue[index.Key](queue.WithName("pods"), queue.WithMetrics(m))
	if err != nil {
		return err
	}
	err = m.Add(metrics.WithQueues(q), metrics.WithExpectations("pods", expectations))
	return err
}
