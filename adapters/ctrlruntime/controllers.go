package ctrlruntime

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

const resultLabel = "result"

// reported are controller-runtime's metrics of controllers and their queues, with what a
// snapshot makes of each.
var reported = []struct {
	name   string
	labels []string
	note   func(of *snapshot.Controller, m *dto.Metric)
}{
	{"controller_runtime_reconcile_total", []string{controllerLabel, resultLabel}, noteResult},
	{"controller_runtime_terminal_reconcile_errors_total", []string{controllerLabel}, func(of *snapshot.Controller, m *dto.Metric) {
		of.TerminalErrors = uint64(m.GetCounter().GetValue())
	}},
	{"controller_runtime_reconcile_timeouts_total", []string{controllerLabel}, func(of *snapshot.Controller, m *dto.Metric) {
		of.Timeouts = uint64(m.GetCounter().GetValue())
	}},
	{"controller_runtime_reconcile_panics_total", []string{controllerLabel}, func(of *snapshot.Controller, m *dto.Metric) {
		of.Panics = uint64(m.GetCounter().GetValue())
	}},
	{"controller_runtime_reconcile_time_seconds", []string{controllerLabel}, func(of *snapshot.Controller, m *dto.Metric) {
		if n := m.GetHistogram().GetSampleCount(); n > 0 {
			of.MeanSeconds = m.GetHistogram().GetSampleSum() / float64(n)
		}
	}},
	{"controller_runtime_max_concurrent_reconciles", []string{controllerLabel}, func(of *snapshot.Controller, m *dto.Metric) {
		of.Workers = int(m.GetGauge().GetValue())
	}},
	{"controller_runtime_active_workers", []string{controllerLabel}, func(of *snapshot.Controller, m *dto.Metric) {
		of.Active = int(m.GetGauge().GetValue())
	}},
	{queueMetric(metrics.DepthKey), []string{nameLabel, controllerLabel, priorityLabel}, func(of *snapshot.Controller, m *dto.Metric) {
		of.Waiting += int(m.GetGauge().GetValue()) // of all priorities
	}},
	{queueMetric(metrics.AddsKey), []string{nameLabel, controllerLabel}, func(of *snapshot.Controller, m *dto.Metric) {
		of.Added = uint64(m.GetCounter().GetValue())
	}},
	{queueMetric(metrics.RetriesKey), []string{nameLabel, controllerLabel}, func(of *snapshot.Controller, m *dto.Metric) {
		of.Retries = uint64(m.GetCounter().GetValue())
	}},
	{queueMetric(metrics.LongestRunningProcessorKey), []string{nameLabel, controllerLabel}, func(of *snapshot.Controller, m *dto.Metric) {
		of.LongestSeconds = m.GetGauge().GetValue()
	}},
}

func queueMetric(key string) string {
	return prometheus.BuildFQName("", metrics.WorkQueueSubsystem, key)
}

func noteResult(of *snapshot.Controller, m *dto.Metric) {
	n := uint64(m.GetCounter().GetValue())
	switch labelOf(m, resultLabel) {
	case "success":
		of.Succeeded += n
	case "error":
		of.Failed += n
	default: // requeue, requeue_after
		of.Requeued += n
	}
}

// controllerMetrics reads controller-runtime's metrics of controllers, and no others, of which
// a registry may have many.
type controllerMetrics struct{ *prometheus.Registry }

func newControllerMetrics() (controllerMetrics, error) {
	m := controllerMetrics{prometheus.NewRegistry()}
	for _, r := range reported {
		of, err := registered(r.name, r.labels...)
		if err == nil {
			err = m.Register(of)
		}
		if err != nil {
			return m, fmt.Errorf("controller-runtime's metrics of controllers: %w", err)
		}
	}
	return m, nil
}

// controllers returns the controllers of the program that have metrics, by name.
func (m controllerMetrics) controllers() []snapshot.Controller {
	families, err := m.Gather() // an error leaves out a part
	if err != nil {
		log.Error(err, "Metrics of controllers are not complete")
	}
	byName := map[string]*snapshot.Controller{}
	for _, family := range families {
		for _, r := range reported {
			if r.name != family.GetName() {
				continue
			}
			for _, metric := range family.GetMetric() {
				name := labelOf(metric, controllerLabel)
				of := byName[name]
				if of == nil {
					of = &snapshot.Controller{Name: name}
					byName[name] = of
				}
				r.note(of, metric)
			}
		}
	}
	var all []snapshot.Controller
	for _, of := range byName {
		all = append(all, *of)
	}
	slices.SortFunc(all, func(a, b snapshot.Controller) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func labelOf(m *dto.Metric, name string) string {
	for _, label := range m.GetLabel() {
		if label.GetName() == name {
			return label.GetValue()
		}
	}
	return ""
}
