package queue

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/internal/container"
	"github.com/kubetyped/informer/internal/test/waves"
	"github.com/kubetyped/informer/internal/timing"
)

// entryOf returns the entry of a key, nil if there is none.
func (q *WorkQueue[K]) entryOf(key K) *entry[K] { return q.keys.by.Get(key) }

// known returns how many keys have an entry.
func known[K comparable](q *WorkQueue[K]) int {
	q.mu.Lock()
	defer q.unlock()
	return q.keys.by.Len()
}

// TestKeysThatComeAgain find their entry, which no report shows meanwhile.
func TestKeysThatComeAgain(t *testing.T) {
	q := makeQueue[string](t, WithCapacity(1))
	defer q.ShutDown()
	for _, again := range []func(){
		func() { q.Add("a") },
		func() { require.NoError(t, q.TryAdd("a", AddOptions{})) },
		func() { q.AddAfter("a", time.Hour); q.Add("a") },
	} {
		again()
		e := q.entryOf("a")
		assert.Zero(t, q.keys.rest)
		assert.Equal(t, []string{"a"}, getAll(q))
		assert.Same(t, e, q.entryOf("a"))
		if !e.inState(delayed) {
			assert.Same(t, e, q.keys.resting.First.Of)
			assert.Equal(t, KeyState{}, q.KeyState("a"))
			assert.Equal(t, 0, q.Len())
		}
	}
}

// TestOldestRestingKeyIsForgotten when there is no room for a new one.
func TestOldestRestingKeyIsForgotten(t *testing.T) {
	q := makeQueue[int](t, WithFairness(func(key int) string { return strconv.Itoa(key) }))
	defer q.ShutDown()
	for i := range kept + 10 {
		q.Add(i)
		getAll(q)
	}
	assert.Equal(t, kept, known(q))
	assert.Equal(t, kept, q.schedule.tenants.by.Len())
	assert.Nil(t, q.entryOf(9))
	assert.NotNil(t, q.entryOf(10))
	for i := range 3 * kept { // a burst needs more
		q.Add(i)
	}
	assert.Equal(t, 3*kept, known(q))
	assert.Len(t, getAll(q), 3*kept)
	q.Add(-1)
	assert.Equal(t, 3*kept, known(q), "as many were needed lately")
}

// TestKeysThatReferToOthersDoNotRest as they would keep these alive.
func TestKeysThatReferToOthersDoNotRest(t *testing.T) {
	type key struct{ to *int }
	q := makeQueue[key](t)
	defer q.ShutDown()
	q.Add(key{new(int)})
	getAll(q)
	assert.Zero(t, q.keys.by.Len())
	q.Add(key{new(int)})
	q.ShutDown()
	getAll(q)
	assert.Zero(t, q.keys.by.Len())
}

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
	runtime.GC() // what pools had is gone with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// memoryOptions are those of queues that keep more or less for a key.
func memoryOptions() map[string][]Option {
	return map[string][]Option{
		"plain":   nil,
		"joined":  {WithJoinedDelays()},
		"fair":    {WithFairness(func(key int) string { return fmt.Sprint(key % 100_000) })},
		"metrics": {WithName("burst"), WithMetrics(discard{})},
	}
}

// TestMemoryAfterABurst: many keys come and go: added, delayed, moved forward, and added while they
// are delayed. A minute later the queue has freed their memory, without a call.
func TestMemoryAfterABurst(t *testing.T) {
	for name, opts := range memoryOptions() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				keys := 40_000
				if waves.IsLong() {
					keys = 1_000_000
				}
				q := makeQueue[int](t, opts...)
				before := live()
				for key := range keys {
					switch key % 4 {
					case 0:
						q.Add(key)
					case 1:
						q.AddAfter(key, time.Second)
					case 2:
						q.AddAfter(key, time.Hour)
						q.AddAfter(key, time.Second)
					case 3:
						q.AddAfter(key, time.Minute)
						q.Add(key)
					}
				}
				q.AddAfter(-1, 24*time.Hour)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				getAll(q)
				if !q.joinedDelays {
					time.Sleep(time.Minute)
					synctest.Wait()
					assert.Len(t, getAll(q), keys/4)
				}
				burst := live() - before
				require.Equal(t, 1, q.Stats().Delayed)
				time.Sleep(2 * trimPeriod)
				synctest.Wait()
				left := live() - before
				t.Logf("%d KiB after the burst, then %d KiB", burst>>10, left>>10)
				assert.Greater(t, burst, 1<<20)
				assert.Less(t, left, 1<<19)
				assert.LessOrEqual(t, q.keys.by.Len(), kept)
				assert.Equal(t, timing.Never, q.memory.next)

				time.Sleep(24 * time.Hour)
				assert.Equal(t, []int{-1}, getAll(q), "the one that is left is found")
				time.Sleep(time.Second) // for the metrics
				synctest.Wait()
				assert.False(t, q.alarm.Runs(), "the goroutine is gone")
				q.ShutDown()
			})
		})
	}
}

// TestMemoryOfFewRemainingKeys: a random hundredth of the keys stays. It takes no more than a few
// times the memory of a queue that never had others.
func TestMemoryOfFewRemainingKeys(t *testing.T) {
	for name, opts := range memoryOptions() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				keys := 60_000
				if waves.IsLong() {
					keys = 1_000_000
				}
				r := rand.New(rand.NewPCG(1, 2))
				stays := map[int]bool{}
				for range keys / 100 {
					stays[r.IntN(keys)] = true
				}
				before := live()
				q := makeQueue[int](t, opts...)
				for key := range keys {
					if stays[key] {
						q.AddAfter(key, 24*time.Hour)
					} else {
						q.AddAfter(key, time.Second)
					}
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				require.Len(t, getAll(q), keys-len(stays))
				time.Sleep(2 * trimPeriod)
				synctest.Wait()
				left := live() - before
				require.Equal(t, len(stays), q.Stats().Delayed)

				before = live()
				fresh := makeQueue[int](t, opts...)
				for key := range stays {
					fresh.AddAfter(key, 24*time.Hour)
				}
				want := live() - before
				t.Logf("%d KiB, and %d KiB in a new queue", left>>10, want>>10)
				assert.Less(t, left, 4*want)
				q.ShutDown()
				fresh.ShutDown()
			})
		})
	}
}

// TestMemoryAfterShutDown: a queue frees delayed keys at its shutdown, and others when they are
// handed out after it.
func TestMemoryAfterShutDown(t *testing.T) {
	const keys = 100_000
	q := makeQueue[int](t)
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
	assert.Len(t, getAll(q), keys/2)
	_, shutDown := q.Get()
	require.True(t, shutDown)
	assert.Less(t, live()-before, 64<<10)
	runtime.KeepAlive(q)
}

// TestMemoryInUseIsKept: bursts that come more often than trims keep their memory.
func TestMemoryInUseIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := makeQueue[int](t)
		defer q.ShutDown()
		for range 20 {
			for key := range 10_000 {
				q.AddAfter(key, time.Second)
			}
			first := q.entryOf(0)
			time.Sleep(trimPeriod - time.Second)
			synctest.Wait()
			require.Len(t, getAll(q), 10_000)
			require.Equal(t, 10_000, q.keys.by.Len())
			require.Same(t, first, q.entryOf(0))
		}
	})
}

// TestKeysThatReferToOthersAllocateNothing either, although they do not rest.
func TestKeysThatReferToOthersAllocateNothing(t *testing.T) {
	q := makeQueue[*int](t)
	defer q.ShutDown()
	key := new(int)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		q.Add(key)
		got, _ := q.Get()
		q.Done(got)
	}))
	assert.Zero(t, q.keys.by.Len())
	for range 3 * kept {
		q.Add(new(int))
	}
	getAll(q)
	assert.Len(t, q.keys.spare, kept, "not more than other keys that rest")
}

// TestEntriesAreForgottenInSteps between which the lock is given up.
func TestEntriesAreForgottenInSteps(t *testing.T) {
	q := makeQueue[int](t)
	defer q.ShutDown()
	for i := range kept + trimStep + 10 {
		q.Add(i)
	}
	getAll(q)
	q.mu.Lock()
	defer q.unlock()
	q.keys.needed = container.Need{}
	assert.True(t, q.forgetSome())
	assert.Equal(t, kept+10, q.keys.by.Len())
	assert.False(t, q.forgetSome())
	assert.Equal(t, kept, q.keys.by.Len())
	assert.Nil(t, q.entryOf(0), "those that have rested longest are gone")
	assert.NotNil(t, q.entryOf(kept+trimStep+9))
}

// TestMemoryOfPlainAdds is freed although no key is delayed, and no method is called.
func TestMemoryOfPlainAdds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := makeQueue[int](t)
		defer q.ShutDown()
		for key := range 3 * kept {
			q.Add(key)
		}
		getAll(q)
		time.Sleep(2 * trimPeriod)
		synctest.Wait()
		assert.Equal(t, kept, q.keys.by.Len())
		assert.False(t, q.alarm.Runs())
	})
}

// TestFlowsAreUsedAgain for other priorities, once they are empty.
func TestFlowsAreUsedAgain(t *testing.T) {
	q := makeQueue[string](t)
	defer q.ShutDown()
	for priority := range 100 {
		q.AddWithOptions("a", AddOptions{Priority: priority})
		q.AddWithOptions("b", AddOptions{Priority: -priority})
		assert.Len(t, getAll(q), 2)
	}
	assert.Len(t, q.schedule.tenants.all.flows, 2)
}
