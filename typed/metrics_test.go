package typed_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/typed"
)

// measures writes down what a typed.Metrics is told.
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
	inBubble(t, func(t *testing.T) {
		var told measures
		r := newRig(t, typed.WithMetrics(&told))
		rec := r.handle()
		r.run()
		r.sink.Replace([]*thing{at("a", 1)}, "1")
		rec.next()
		assert.Equal(t, measures{"queued 1", "processing 1", "version 1", "processed", "queued 0"}, told)
		told = nil
		r.sink.Bookmark("2")
		rec.next()
		assert.Equal(t, measures{"queued 1", "processing 1", "version 2", "processed", "queued 0"}, told)
	})
}

// idle is metrics that measure nothing.
type idle struct{}

func (idle) SetQueued(int)             {}
func (idle) Process(int, func())       {}
func (idle) SetResourceVersion(string) {}

func TestMetricsThatDoNotProcess(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, typed.WithMetrics(idle{}))
		rec := r.handle()
		r.run()
		r.sink.Replace([]*thing{at("a", 1)}, "1")
		assert.Len(t, rec.next(), 1)
	})
}
