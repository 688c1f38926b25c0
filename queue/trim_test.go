package queue

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
)

// discard is a metrics provider.
type discard struct{ workqueue.MetricsProvider }

func (discard) NewDepthMetric(string) workqueue.GaugeMetric            { return noMetric{} }
func (discard) NewAddsMetric(string) workqueue.CounterMetric           { return noMetric{} }
func (discard) NewLatencyMetric(string) workqueue.HistogramMetric      { return noMetric{} }
func (discard) NewWorkDurationMetric(string) workqueue.HistogramMetric { return noMetric{} }
func (discard) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return noMetric{}
}
func (discard) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return noMetric{}
}
func (discard) NewRetriesMetric(string) workqueue.CounterMetric { return noMetric{} }

// live returns the bytes of memory that are in use.
func live() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestMemoryAfterABurst has 300,000 keys come and go, all but one of which is
// delayed for a day. A minute later their memory is given back, by a queue
// nobody calls.
func TestMemoryAfterABurst(t *testing.T) {
	for name, opts := range map[string][]Option{
		"plain":   nil,
		"fair":    {WithFairness(func(key int) string { return fmt.Sprint(key % 100_000) })},
		"metrics": {WithName("burst"), WithMetrics(discard{})},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const keys = 300_000
				q, err := NewWorkQueue[int](opts...)
				require.NoError(t, err)
				before := live()
				for key := range keys / 2 {
					q.Add(key)
				}
				for key := keys / 2; key < keys; key++ {
					q.AddAfter(key, time.Second)
				}
				q.AddAfter(keys/2, 24*time.Hour) // counts for nothing, it is due before
				q.AddAfter(7, 24*time.Hour)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				for range keys {
					key, _ := q.Get()
					q.Done(key)
				}
				burst := live() - before
				require.Equal(t, 1, q.Stats().Delayed)
				time.Sleep(2 * trimPeriod)
				synctest.Wait()
				left := live() - before
				t.Logf("%d KiB after the burst, then %d KiB", burst/1024, left/1024)
				assert.Less(t, left, 1<<20)
				assert.False(t, q.trimmer.active)

				time.Sleep(24 * time.Hour)
				key, _ := q.Get()
				assert.Equal(t, 7, key, "the one that is left is found")
				q.Done(key)
				time.Sleep(time.Second) // for the metrics
				synctest.Wait()
				assert.False(t, q.background.running, "the goroutine is gone")
				q.ShutDown()
			})
		})
	}
}

// TestMemoryAfterShutDown has keys that were delayed, and others that are handed
// out after the shutdown.
func TestMemoryAfterShutDown(t *testing.T) {
	const keys = 100_000
	q, err := NewWorkQueue[int]()
	require.NoError(t, err)
	before := live()
	for key := range keys {
		if key%2 == 0 {
			q.Add(key)
		} else {
			q.AddAfter(key, time.Hour)
		}
	}
	q.ShutDown()
	s := q.Stats()
	assert.Equal(t, keys/2, s.Waiting)
	assert.Zero(t, s.Delayed)
	for range keys / 2 {
		key, _ := q.Get()
		q.Done(key)
	}
	_, shutDown := q.Get()
	require.True(t, shutDown)
	assert.Less(t, live()-before, 64<<10)
	runtime.KeepAlive(q)
}

// TestMemoryThatIsNeededIsKept has bursts more often than memory is given back.
func TestMemoryThatIsNeededIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, err := NewWorkQueue[int]()
		require.NoError(t, err)
		defer q.ShutDown()
		var pages int
		for i := range 20 {
			for key := range 10_000 {
				q.AddAfter(key, time.Second)
			}
			time.Sleep(trimPeriod - time.Second)
			synctest.Wait()
			for range 10_000 {
				key, _ := q.Get()
				q.Done(key)
			}
			if i == 0 {
				pages = len(q.keys.pages)
			}
			require.Equal(t, pages, len(q.keys.pages))
		}
	})
}
