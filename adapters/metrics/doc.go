// Package metrics exports metrics of informers, their handlers, work queues, expectations,
// shard groups and fleets to Prometheus. One line wires all informers of a factory:
//
//	m, err := metrics.New(prometheus.DefaultRegisterer, metrics.WithFactories(factory))
//
// Queues report what client-go's queues do, under the same names, if they are made with
// it, and more if they are added:
//
//	q, err := queue.NewWorkQueue[index.Key](queue.WithName("pods"), queue.WithMetrics(m))
//	err = m.Add(metrics.WithQueues(q), metrics.WithExpectations("pods", expectations))
//
// The page docs/reference/metrics.md lists all metrics; docs/operating has a dashboard and alerts.
//
// It is its own module, so that who imports this project need not know of Prometheus' client.
package metrics
