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

// depths is a metrics provider that keeps the depth of a queue by priority.
type depths struct {
	silent
	mu sync.Mutex
	of map[int]int // guarded by mu; without zeros
}

func newDepths() *depths { return &depths{of: map[int]int{}} }

func (*depths) NewDepthMetric(string) workqueue.GaugeMetric { panic("not the one to use") }

func (d *depths) NewDepthByPriorityMetric(string) queue.PriorityGaugeMetric {
	return depthsMetric{d}
}

// seen returns the depths.
func (d *depths) seen() map[int]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.of)
}

type depthsMetric struct{ *depths }

func (d depthsMetric) Inc(priority int) { d.add(priority, 1) }
func (d depthsMetric) Dec(priority int) { d.add(priority, -1) }

func (d depthsMetric) add(priority, n int) {
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
		require.Equal(t, map[int]int{1: 1, queue.LowPriority: 1}, d.seen())
		q.Add("b")
		assert.Equal(t, map[int]int{1: 1, 0: 1}, d.seen(), "b has got another priority")
		pass(second)
		assert.Equal(t, map[int]int{3: 1, 1: 1, 0: 1}, d.seen(), "c has come due")

		require.Equal(t, "c", get(t, q))
		q.Add("c")
		assert.Equal(t, map[int]int{1: 1, 0: 2}, d.seen(), "c will wait again")
		q.AddWithOptions("c", queue.AddOptions{Priority: 2})
		assert.Equal(t, map[int]int{2: 1, 1: 1, 0: 1}, d.seen())
		q.Done("c")
		assert.Equal(t, []string{"c", "a", "b"}, work(t, q))
		assert.Empty(t, d.seen())
	})
}
