package typed_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/observe"
)

// measures writes down the calls of an observe.Metrics.
type measures []string

func (m *measures) SetQueued(changes int)             { *m = append(*m, fmt.Sprint("queued ", changes)) }
func (m *measures) SetResourceVersion(version string) { *m = append(*m, "version "+version) }

func (m *measures) Process(changes int, process func()) {
	*m = append(*m, fmt.Sprint("processing ", changes))
	process()
	process() // does nothing
	*m = append(*m, "processed")
}

func TestMetrics(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		var told measures
		r := rig.New(t, observe.WithMetrics(&told))
		rec := r.Record()
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		rec.Next()
		assert.Equal(t, measures{"queued 1", "processing 1", "version 1", "processed", "queued 0"}, told)
		told = nil
		sinktest.Bookmark(r.Sink, "2")
		rec.Next()
		assert.Equal(t, measures{"queued 1", "processing 1", "version 2", "processed", "queued 0"}, told)
	})
}

// busy is metrics that changes come to while a batch is processed.
type busy struct {
	measures
	come func()
}

func (b *busy) Process(changes int, process func()) {
	b.come()
	b.measures.Process(changes, process)
}

// TestMetricsCountNewChanges after a batch.
func TestMetricsCountNewChanges(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		var r *rig.Rig
		m := &busy{come: sync.OnceFunc(func() {
			sinktest.Put(r.Sink, rig.At("a", 2), "2")
			sinktest.Put(r.Sink, rig.At("b", 3), "3")
		})}
		r = rig.New(t, observe.WithMetrics(m))
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		assert.Equal(t, measures{
			"queued 1", "processing 1", "version 1", "processed", "queued 2",
			"queued 2", "processing 2", "version 3", "processed", "queued 0",
		}, m.measures)
	})
}

// idle is metrics that measure nothing.
type idle struct{}

func (idle) SetQueued(int)             {}
func (idle) Process(int, func())       {}
func (idle) SetResourceVersion(string) {}

func TestMetricsThatDoNotProcess(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, observe.WithMetrics(idle{}))
		rec := r.Record()
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		assert.Len(t, rec.Next(), 1)
	})
}
