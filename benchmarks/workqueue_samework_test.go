package benchmarks

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/kubetyped/informer/index"
)

// TestQueuesDoTheSame counts what workers get in two turns of each benchmark.
func TestQueuesDoTheSame(t *testing.T) {
	keysOfLoad := map[string]int{"AddGetDone": 1, "Contended8x8": 8000, "AddAfter100k": 100_000}
	getsOfKey := map[string]int{"RateLimited": 2}
	for _, load := range queueLoads {
		for _, s := range queueSides {
			t.Run(load.name+"/"+s.impl, func(t *testing.T) {
				fake := testingclock.NewFakeClock(time.Unix(1_000_000_000, 0))
				var c clock.WithTicker = clock.RealClock{}
				if load.fake {
					c = fake
				}
				q := &countingQueue{workQueue: s.make(t, c), got: map[index.Key]int{}}
				add := func(_ workQueue, i int, key index.Key) { s.add(q.workQueue, i, key) }
				turn, end := load.prepare(q, add, fake)
				turn()
				turn()
				end()
				assert.Zero(t, q.Len())
				q.ShutDown()

				n, ok := keysOfLoad[load.name]
				if !ok {
					n = 1000
				}
				if load.name == "AddGetDone" {
					assert.Len(t, q.got, 2, "another key each time")
					return
				}
				assert.Len(t, q.got, n)
				for key, times := range q.got {
					if !assert.Equal(t, 2*max(1, getsOfKey[load.name]), times, "%v", key) {
						break
					}
				}
				assert.Equal(t, q.gets, q.dones)
			})
		}
	}
}

// countingQueue counts what goes through it.
type countingQueue struct {
	workQueue
	mu          sync.Mutex
	got         map[index.Key]int // guarded by mu
	gets, dones int               // guarded by mu
}

func (q *countingQueue) Get() (index.Key, bool) {
	key, shutDown := q.workQueue.Get()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.got[key]++
	q.gets++
	return key, shutDown
}

func (q *countingQueue) Done(key index.Key) {
	q.workQueue.Done(key)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dones++
}
