package queue_test

import (
	"maps"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/queue"
)

// depths is a metrics provider that keeps the depth of a queue by priority, too.
type depths struct {
	fullRecorder
	mu sync.Mutex
	of map[int]int // guarded by mu; without zeros
}

func newDepths() *depths {
	return &depths{fullRecorder: fullRecorder{newRecorder()}, of: map[int]int{}}
}

func (d *depths) NewDepthByPriorityMetric(name string) queue.PriorityGaugeMetric {
	return depthsMetric{d, d.NewDepthMetric(name)}
}

// byPriority returns the depths.
func (d *depths) byPriority() map[int]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.of)
}

type depthsMetric struct {
	depths *depths
	total  workqueue.GaugeMetric
}

func (m depthsMetric) Inc(priority int) {
	m.total.Inc()
	m.depths.add(priority, 1)
}

func (m depthsMetric) Dec(priority int) {
	m.total.Dec()
	m.depths.add(priority, -1)
}

func (d *depths) add(priority, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of[priority] += n; d.of[priority] == 0 {
		delete(d.of, priority)
	}
}

// depths returns what a queue's metric has to be.
func (m *model) depths() map[int]int {
	of := map[int]int{}
	for _, k := range m.line {
		of[k.priority]++
	}
	for _, k := range m.keys {
		if k.dirty {
			of[k.again]++
		}
	}
	return of
}

func TestDepthByPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDepths()
		q := newQueue[string](t, queue.WithName("q"), queue.WithMetrics(d))
		defer q.ShutDown()

		q.AddWithOptions("a", queue.AddOptions{Priority: 1})
		q.AddWithOptions("b", queue.AddOptions{Priority: queue.LowPriority})
		q.AddWithOptions("c", queue.AddOptions{Priority: 3, After: second})
		require.Equal(t, map[int]int{1: 1, queue.LowPriority: 1}, d.byPriority())
		q.Add("b")
		assert.Equal(t, map[int]int{1: 1, 0: 1}, d.byPriority(), "b has got another priority")
		pass(second)
		assert.Equal(t, map[int]int{3: 1, 1: 1, 0: 1}, d.byPriority(), "c has come due")

		require.Equal(t, "c", get(t, q))
		q.Add("c")
		assert.Equal(t, map[int]int{1: 1, 0: 2}, d.byPriority(), "c will wait again")
		q.AddWithOptions("c", queue.AddOptions{Priority: 2})
		assert.Equal(t, map[int]int{2: 1, 1: 1, 0: 1}, d.byPriority())
		q.Done("c")
		assert.Equal(t, []string{"c", "a", "b"}, work(t, q))
		assert.Empty(t, d.byPriority())
	})
}
