package benchmarks

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/kubetyped/informer/index"
)

// BenchmarkWorkQueue measures the queue between handlers and workers. What an
// operation is:
//
//   - AddGetDone: a key is added, handed out, and done. The queue is empty in
//     between, as it is when workers are faster than events.
//   - Burst1000: 1,000 keys are added, then all are handed out and done.
//   - Duplicates: the same, but each key is added twice before, as an object
//     that changes again while its key waits.
//   - Contended8x8: 8 goroutines add 1,000 keys each while 8 workers get them
//     and call Done.
//   - RateLimited: 1,000 keys are added and handed out. All of them fail, so they are added rate
//     limited. They come due, are handed out again, and are forgotten and done.
//   - AddAfter100k: 100,000 keys are added with delays of 1 to 10 minutes, then
//     the clock, a fake one on both sides, goes to when all are due, and they are
//     handed out and done.
func BenchmarkWorkQueue(b *testing.B) {
	for _, load := range queueLoads {
		b.Run(load.name, func(b *testing.B) {
			for _, s := range queueSides {
				b.Run("impl="+s.impl, func(b *testing.B) {
					fake := testingclock.NewFakeClock(time.Unix(1_000_000_000, 0))
					var c clock.WithTicker = clock.RealClock{}
					if load.fake {
						c = fake
					}
					q := s.make(b, c)
					turn, end := load.prepare(q, s.add, fake)
					turn() // makes room
					b.ReportAllocs()
					for b.Loop() {
						turn()
					}
					end()
					q.ShutDown()
				})
			}
		})
	}
}

// queueLoads are the operations, by name. Prepare returns one that can be done again and again,
// and a function to call after the last.
var queueLoads = []struct {
	name    string
	fake    bool // the clock
	prepare func(q workQueue, add addKey, clock *testingclock.FakeClock) (turn, end func())
}{
	{"AddGetDone", false, func(q workQueue, add addKey, _ *testingclock.FakeClock) (func(), func()) {
		keys := queueKeys(1000)
		next := 0
		return func() {
			add(q, next, keys[next])
			if next++; next == len(keys) {
				next = 0
			}
			key, _ := q.Get()
			q.Done(key)
		}, func() {}
	}},
	{"Burst1000", false, func(q workQueue, add addKey, _ *testingclock.FakeClock) (func(), func()) {
		keys := queueKeys(1000)
		return func() {
			addAll(q, add, keys)
			getAll(q, len(keys))
		}, func() {}
	}},
	{"Duplicates", false, func(q workQueue, add addKey, _ *testingclock.FakeClock) (func(), func()) {
		keys := queueKeys(1000)
		again := sameKeys(keys)
		return func() {
			addAll(q, add, keys)
			addAll(q, add, again)
			getAll(q, len(keys))
		}, func() {}
	}},
	{"Contended8x8", false, prepareContended},
	{"RateLimited", false, func(q workQueue, add addKey, _ *testingclock.FakeClock) (func(), func()) {
		keys, busy := queueKeys(1000), make([]index.Key, 1000)
		return func() {
			addAll(q, add, keys)
			for i := range busy {
				busy[i], _ = q.Get()
			}
			for _, key := range busy {
				q.AddRateLimited(key)
				q.Done(key)
			}
			for range busy {
				key, _ := q.Get()
				q.Forget(key)
				q.Done(key)
			}
		}, func() {}
	}},
	{"AddAfter100k", true, func(q workQueue, _ addKey, clock *testingclock.FakeClock) (func(), func()) {
		keys := queueKeys(100_000)
		random := rand.New(rand.NewPCG(5, 5))
		delays := make([]time.Duration, len(keys))
		for i := range delays {
			delays[i] = time.Minute + time.Duration(random.Int64N(int64(9*time.Minute)))
		}
		return func() {
			for i, key := range keys {
				q.AddAfter(key, delays[i])
			}
			clock.Step(10 * time.Minute)
			getAll(q, len(keys))
		}, func() {}
	}},
}

// addKey adds the i-th of some keys to a queue.
type addKey = func(q workQueue, i int, key index.Key)

func addAll(q workQueue, add addKey, keys []index.Key) {
	for i, key := range keys {
		add(q, i, key)
	}
}

// getAll gets so many keys, waiting for them if need be, and calls Done.
func getAll(q workQueue, n int) {
	for range n {
		key, _ := q.Get()
		q.Done(key)
	}
}

// prepareContended starts the goroutines of Contended8x8. Each has its share of
// the keys, or of their number, so that they share nothing but the queue.
func prepareContended(q workQueue, add addKey, _ *testingclock.FakeClock) (turn, end func()) {
	const producers, workers, each = 8, 8, 1000
	keys := queueKeys(producers * each)
	var all, busy sync.WaitGroup
	start := func(do func()) chan<- struct{} {
		turns := make(chan struct{})
		all.Go(func() {
			for range turns {
				do()
				busy.Done()
			}
		})
		return turns
	}
	var starts []chan<- struct{}
	for p := range producers {
		starts = append(starts, start(func() { addAll(q, add, keys[p*each:(p+1)*each]) }))
	}
	for range workers {
		starts = append(starts, start(func() { getAll(q, each) }))
	}
	return func() {
			busy.Add(len(starts))
			for _, start := range starts {
				start <- struct{}{}
			}
			busy.Wait()
		}, func() {
			for _, start := range starts {
				close(start)
			}
			all.Wait()
		}
}
