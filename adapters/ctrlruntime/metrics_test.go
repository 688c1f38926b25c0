package ctrlruntime_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
)

var made atomic.Int64

// unique returns a name that no queue has had: metrics outlive their queues.
func unique(name string) string { return fmt.Sprintf("%s %d", name, made.Add(1)) }

// series returns what the registry has of a queue: values of gauges and counters,
// and how often histograms have observed something, by name and labels.
func series(t *testing.T, queue string) map[string]float64 {
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	found := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			named := false
			for _, l := range m.GetLabel() {
				named = named || l.GetName() == "name" && l.GetValue() == queue
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), strings.ReplaceAll(l.GetValue(), queue, "queue")))
			}
			if named && strings.HasPrefix(f.GetName(), "workqueue_") {
				found[f.GetName()+"{"+strings.Join(labels, ",")+"}"] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return found
}

// TestQueueMetricsAreControllerRuntimes has both queues do the same, and expects the
// same of both in the registry.
func TestQueueMetricsAreControllerRuntimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o controller.TypedOptions[string]
		require.NoError(t, ctrlruntime.ConfigureController(&o))
		nameOfOurs, nameOfTheirs := unique("ours"), unique("theirs")
		ours := o.NewQueue(nameOfOurs, nil).(priorityQueue)
		defer ours.ShutDown()
		theirs := priorityqueue.New[string](nameOfTheirs)
		defer theirs.ShutDown()
		for i, step := range []func(q priorityQueue){
			func(q priorityQueue) { q.AddWithOpts(at(-100), "a", "b") },
			func(q priorityQueue) { q.AddWithOpts(at(0), "b") },
			func(q priorityQueue) { q.AddWithOpts(after(second, 5), "c") },
			func(q priorityQueue) { get(t, q) },
			func(q priorityQueue) { q.AddWithOpts(at(7), "b") },
			func(q priorityQueue) { pass(second) },
			func(q priorityQueue) { q.Done("b") },
			func(q priorityQueue) { work(t, q) },
			func(q priorityQueue) { pass(second) },
		} {
			step(ours)
			step(theirs)
			synctest.Wait()
			got := series(t, nameOfOurs)
			assert.NotEmpty(t, got)
			assert.Equal(t, series(t, nameOfTheirs), got, "step %d", i)
		}
	})
}

func TestQueueMetricsWithoutPriorities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := controller.TypedOptions[string]{UsePriorityQueue: new(false)}
		require.NoError(t, ctrlruntime.ConfigureController(&o))
		nameOfOurs, nameOfTheirs := unique("ours"), unique("theirs")
		ours := o.NewQueue(nameOfOurs, nil)
		defer ours.ShutDown()
		theirs := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[string](),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: nameOfTheirs})
		defer theirs.ShutDown()
		for _, q := range []workqueue.TypedRateLimitingInterface[string]{ours, theirs} {
			q.Add("a")
			q.Add("b")
			q.AddAfter("c", second)
			q.Get()
		}
		pass(second / 4)
		assert.Equal(t, series(t, nameOfTheirs), series(t, nameOfOurs))
		assert.Contains(t, series(t, nameOfOurs), `workqueue_depth{controller="queue",name="queue",priority=""}`)
	})
}

func TestQueueMetricsBoundTheNumberOfPriorities(t *testing.T) {
	m, err := ctrlruntime.NewQueueMetrics()
	require.NoError(t, err)
	name := unique("many")
	depth := m.NewDepthByPriorityMetric(name)
	for range 2 {
		for priority := range 40 {
			depth.Inc(priority)
		}
	}
	depth.Dec(3)
	depth.Dec(39)
	want := map[string]float64{`workqueue_depth{controller="queue",name="queue",priority="exceeded_cardinality_limit"}`: 29}
	for priority := range 25 {
		want[fmt.Sprintf(`workqueue_depth{controller="queue",name="queue",priority="%d"}`, priority)] = 2
	}
	want[`workqueue_depth{controller="queue",name="queue",priority="3"}`] = 1
	assert.Equal(t, want, series(t, name))
}

func TestMissingQueueMetrics(t *testing.T) {
	defer func(r metrics.RegistererGatherer) { metrics.Registry = r }(metrics.Registry)
	metrics.Registry = prometheus.NewRegistry()
	_, err := ctrlruntime.NewQueueMetrics()
	require.ErrorContains(t, err, "workqueue_depth is not in the registry")
	var o controller.Options
	require.Error(t, ctrlruntime.ConfigureController(&o))
	assert.Nil(t, o.NewQueue)

	for name, c := range map[string]prometheus.Collector{
		"has other labels": prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "workqueue_depth"}, []string{"name"}),
		"is a *prometheus.CounterVec": prometheus.NewCounterVec(prometheus.CounterOpts{Name: "workqueue_depth"},
			[]string{"name", "controller", "priority"}),
	} {
		metrics.Registry = prometheus.NewRegistry()
		metrics.Registry.MustRegister(c)
		_, err = ctrlruntime.NewQueueMetrics()
		require.ErrorContains(t, err, "workqueue_depth "+name)
	}

	metrics.Registry = struct{ metrics.RegistererGatherer }{metrics.Registry}
	_, err = ctrlruntime.NewQueueMetrics()
	require.ErrorContains(t, err, "does not list its metrics")
}
