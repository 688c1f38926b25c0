package queue_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/queue"
)

// recorder is a metrics provider that records values, by metric.
type recorder struct {
	mu       sync.Mutex
	values   map[string]float64   // guarded by mu; of gauges and counters
	observed map[string][]float64 // guarded by mu; by histograms
	names    map[string]bool      // guarded by mu; of queues
}

func newRecorder() *recorder {
	return &recorder{values: map[string]float64{}, observed: map[string][]float64{}, names: map[string]bool{}}
}

// value returns a gauge or counter.
func (r *recorder) value(metric string) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.values[metric]
}

// seen returns what a histogram has observed since the last call.
func (r *recorder) seen(metric string) []float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.observed[metric]
	delete(r.observed, metric)
	return seen
}

// count returns how often a histogram has observed something since seen was last
// called for it.
func (r *recorder) count(metric string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.observed[metric])
}

func (r *recorder) make(metric, name string) recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names[name] = true
	return recorded{r, metric}
}

func (r *recorder) NewDepthMetric(name string) workqueue.GaugeMetric { return r.make("depth", name) }
func (r *recorder) NewAddsMetric(name string) workqueue.CounterMetric {
	return r.make("adds", name)
}
func (r *recorder) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return r.make("latency", name)
}
func (r *recorder) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return r.make("work duration", name)
}
func (r *recorder) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return r.make("unfinished", name)
}
func (r *recorder) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return r.make("longest", name)
}
func (r *recorder) NewRetriesMetric(name string) workqueue.CounterMetric {
	return r.make("retries", name)
}

// fullRecorder also makes the metrics that only a WorkQueue has.
type fullRecorder struct{ *recorder }

func (r fullRecorder) NewDelayedMetric(name string) workqueue.GaugeMetric {
	return r.make("delayed", name)
}
func (r fullRecorder) NewInFlightMetric(name string) workqueue.GaugeMetric {
	return r.make("in flight", name)
}
func (r fullRecorder) NewOldestAgeSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return r.make("oldest age", name)
}

var _ queue.MetricsProvider = fullRecorder{}

// recorded is one metric of a recorder.
type recorded struct {
	*recorder
	metric string
}

func (m recorded) Inc() { m.add(1) }
func (m recorded) Dec() { m.add(-1) }

func (m recorded) add(n float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[m.metric] += n
}

func (m recorded) Set(value float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[m.metric] = value
}

func (m recorded) Observe(value float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.observed[m.metric] = append(m.observed[m.metric], value)
}

func onEachMeasured(t *testing.T, test func(t *testing.T, q sharedQueue, r *recorder)) {
	var r *recorder
	onEachWith(t, func() setup {
		r = newRecorder()
		return setup{metrics: r}
	}, func(t *testing.T, q sharedQueue, _ setup) {
		require.Equal(t, map[string]bool{"test": true}, r.names)
		test(t, q, r)
	})
}

func TestSuiteMetricsOfAKey(t *testing.T) {
	onEachMeasured(t, func(t *testing.T, q sharedQueue, r *recorder) {
		add(q, "a", "a", "b")
		assert.EqualValues(t, 2, r.value("adds"), "without those that change nothing")
		assert.EqualValues(t, 2, r.value("depth"))
		pass(2 * second)
		require.Equal(t, "a", get(t, q))
		assert.EqualValues(t, 1, r.value("depth"))
		assert.Equal(t, []float64{2}, r.seen("latency"))
		pass(3 * second)
		add(q, "a", "a")
		assert.EqualValues(t, 3, r.value("adds"))
		assert.EqualValues(t, 2, r.value("depth"), "of which one is still being processed")
		pass(second)
		q.Done("a")
		assert.Equal(t, []float64{4}, r.seen("work duration"))
		assert.EqualValues(t, 2, r.value("depth"))
		pass(second)
		require.Equal(t, "b", get(t, q))
		require.Equal(t, "a", get(t, q))
		assert.Equal(t, []float64{7, 2}, r.seen("latency"), "counted from when it was added")
		assert.Zero(t, r.value("depth"))
		assert.Empty(t, r.seen("work duration"))
		assert.Zero(t, r.value("retries"))
	})
}

func TestSuiteMetricsOfRetries(t *testing.T) {
	onEachMeasured(t, func(t *testing.T, q sharedQueue, r *recorder) {
		q.AddAfter("a", second)
		q.AddAfter("a", 2*second)
		q.AddAfter("b", 0)
		q.AddAfter("c", -second)
		q.AddRateLimited("d")
		assert.EqualValues(t, 5, r.value("retries"), "each call counts")
		assert.EqualValues(t, 2, r.value("adds"), "what is delayed is not in the queue")
		assert.EqualValues(t, 2, r.value("depth"))
		pass(10 * second)
		assert.EqualValues(t, 4, r.value("adds"))
		assert.EqualValues(t, 4, r.value("depth"))
		work(t, q)
		assert.Equal(t, []float64{10, 10, 9.995, 9}, r.seen("latency"), "the delay is not part of it")

		q.ShutDown()
		q.AddAfter("a", second)
		q.AddRateLimited("a")
		q.Add("a")
		assert.EqualValues(t, 5, r.value("retries"))
		assert.EqualValues(t, 4, r.value("adds"))
		assert.Zero(t, r.value("depth"))
	})
}

func TestSuiteMetricsOfUnfinishedWork(t *testing.T) {
	onEachMeasured(t, func(t *testing.T, q sharedQueue, r *recorder) {
		add(q, "a", "b")
		get(t, q)
		pass(5 * second)
		get(t, q)
		pass(3*second + time.Second/2)
		assert.InDelta(t, 12, r.value("unfinished"), 1, "8.5 and 3.5, half a second ago at most")
		assert.InDelta(t, 8.5, r.value("longest"), 0.5)
		q.Done("a")
		pass(second)
		assert.InDelta(t, 4.5, r.value("unfinished"), 0.5)
		assert.InDelta(t, 4.5, r.value("longest"), 0.5)
		q.Done("b")
		pass(second)
		assert.Zero(t, r.value("unfinished"))
		assert.Zero(t, r.value("longest"))
		pass(time.Hour)

		add(q, "c")
		get(t, q)
		pass(2 * second)
		assert.InDelta(t, 2, r.value("longest"), 0.5, "it starts again")
		q.ShutDown()
		before := r.value("longest")
		pass(10 * second)
		assert.Equal(t, before, r.value("longest"), "it ends with the queue")
	})
}

func TestSuiteMetricsAreConsistentUnderLoad(t *testing.T) {
	onEachMeasured(t, func(t *testing.T, q sharedQueue, r *recorder) {
		var producing, working sync.WaitGroup
		for p := range 4 {
			producing.Go(func() {
				for i := range 200 {
					q.Add(string(rune('a' + (i+p)%20)))
					q.AddAfter(string(rune('a'+i%20)), time.Duration(i%3)*time.Millisecond)
				}
			})
			working.Go(func() {
				for {
					key, shutDown := q.Get()
					if shutDown {
						return
					}
					time.Sleep(time.Microsecond)
					q.Done(key)
				}
			})
		}
		producing.Wait()
		pass(second)
		synctest.Wait()
		q.ShutDownWithDrain()
		working.Wait()
		adds := r.value("adds")
		assert.Zero(t, r.value("depth"))
		assert.Len(t, r.seen("latency"), int(adds))
		assert.Len(t, r.seen("work duration"), int(adds))
		assert.EqualValues(t, 800, r.value("retries"))
	})
}

// silent is a metrics provider that keeps nothing.
type silent struct{}

func (silent) NewDepthMetric(string) workqueue.GaugeMetric                         { return silent{} }
func (silent) NewAddsMetric(string) workqueue.CounterMetric                        { return silent{} }
func (silent) NewLatencyMetric(string) workqueue.HistogramMetric                   { return silent{} }
func (silent) NewWorkDurationMetric(string) workqueue.HistogramMetric              { return silent{} }
func (silent) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric { return silent{} }
func (silent) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return silent{}
}
func (silent) NewRetriesMetric(string) workqueue.CounterMetric { return silent{} }
func (silent) Inc()                                            {}
func (silent) Dec()                                            {}
func (silent) Set(float64)                                     {}
func (silent) Observe(float64)                                 {}
