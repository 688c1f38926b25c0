package ctrlruntime

import (
	"errors"
	"fmt"
	"slices"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/kubetyped/informer/queue"
)

// ConfigureController gives a controller a Queue, with the controller's name and
// rate limiter, which reports QueueMetrics. It sets NewQueue and nothing else:
//
//	options := controller.Options{MaxConcurrentReconciles: 8}
//	err := ctrlruntime.ConfigureController(&options)
//
// If o says not to use a priority queue (UsePriorityQueue points to false), the
// controller gets a plain queue.WorkQueue: as with controller-runtime, there are
// no priorities then, and delays and shutdown are those of client-go. What counts
// is what o says when ConfigureController is called; the setting of the manager is
// not known here.
//
// With opts the queue can be given more: queue.WithFairness, queue.WithAgeing, or
// queue.WithMetrics for other metrics. A name and a rate limiter in opts have no
// effect.
//
// It returns an error, and changes nothing, if o is nil, NewQueue is set already,
// an option cannot be used, or NewQueueMetrics returns an error.
func ConfigureController[request comparable](o *controller.TypedOptions[request], opts ...queue.Option) error {
	switch {
	case o == nil:
		return errors.New("configure controller: the options are nil")
	case o.NewQueue != nil:
		return errors.New("configure controller: NewQueue is set already, and there can be only one: leave it nil, or leave ConfigureController out")
	}
	metrics, err := NewQueueMetrics()
	if err != nil {
		return fmt.Errorf("configure controller: %w", err)
	}
	plan := queuePlan[request]{opts: slices.Clone(opts), metrics: metrics}
	if err := plan.try(); err != nil {
		return fmt.Errorf("configure controller: %w", err)
	}
	o.NewQueue = plan.newPriorityQueue
	if o.UsePriorityQueue != nil && !*o.UsePriorityQueue {
		o.NewQueue = plan.newPlainQueue
	}
	return nil
}

// queuePlan makes the queues of controllers, when these are started.
type queuePlan[request comparable] struct {
	opts    []queue.Option
	metrics *QueueMetrics
}

// try returns an error if the options cannot be used: NewQueue has none to return.
// Its queue reports nothing, also to what opts name.
func (p queuePlan[request]) try() error {
	_, err := queue.NewWorkQueue[request](append(slices.Clone(p.opts), queue.WithName("controller"), queue.WithMetrics(unmeasured{}))...)
	return err
}

func (p queuePlan[request]) newPriorityQueue(name string, limiter workqueue.TypedRateLimiter[request]) workqueue.TypedRateLimitingInterface[request] {
	q, err := NewQueue[request](p.options(name, limiter, p.metrics)...)
	utilruntime.Must(err) // the options have been tried
	return q
}

func (p queuePlan[request]) newPlainQueue(name string, limiter workqueue.TypedRateLimiter[request]) workqueue.TypedRateLimitingInterface[request] {
	withoutPriorities := struct{ workqueue.MetricsProvider }{p.metrics}
	q, err := queue.NewWorkQueue[request](p.options(name, limiter, withoutPriorities)...)
	utilruntime.Must(err) // the options have been tried
	return q
}

// options returns all options of a queue. As with controller-runtime, one that has
// no name has no metrics.
func (p queuePlan[request]) options(name string, limiter workqueue.TypedRateLimiter[request], metrics workqueue.MetricsProvider) []queue.Option {
	var opts []queue.Option
	if name != "" {
		opts = append(opts, queue.WithMetrics(metrics))
	}
	opts = append(opts, p.opts...)
	if name != "" {
		opts = append(opts, queue.WithName(name))
	}
	if limiter != nil {
		opts = append(opts, queue.WithRateLimiter(limiter))
	}
	return opts
}

// unmeasured is a metrics provider, and all of its metrics. It keeps nothing.
type unmeasured struct{}

func (unmeasured) NewDepthMetric(string) workqueue.GaugeMetric            { return unmeasured{} }
func (unmeasured) NewAddsMetric(string) workqueue.CounterMetric           { return unmeasured{} }
func (unmeasured) NewLatencyMetric(string) workqueue.HistogramMetric      { return unmeasured{} }
func (unmeasured) NewWorkDurationMetric(string) workqueue.HistogramMetric { return unmeasured{} }
func (unmeasured) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return unmeasured{}
}
func (unmeasured) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return unmeasured{}
}
func (unmeasured) NewRetriesMetric(string) workqueue.CounterMetric { return unmeasured{} }

func (unmeasured) Inc()            {}
func (unmeasured) Dec()            {}
func (unmeasured) Set(float64)     {}
func (unmeasured) Observe(float64) {}
