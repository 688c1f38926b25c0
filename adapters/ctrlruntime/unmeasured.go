package ctrlruntime

import "k8s.io/client-go/util/workqueue"

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
