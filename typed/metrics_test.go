package typed_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/typed"
)

// measures writes down what a typed.Metrics is told.
type measures []string

func (m *measures) SetQueued(changes int)                { *m = append(*m, fmt.Sprint("queued ", changes)) }
func (m *measures) SetResourceVersion(version string)    { *m = append(*m, "version "+version) }
func (m *measures) ObserveProcessing(took time.Duration) { *m = append(*m, fmt.Sprint("took ", took)) }

func TestMetrics(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var told measures
		r := newRig(t, typed.WithMetrics(&told))
		rec := r.handle()
		r.run()
		r.sink.Replace([]*thing{at("a", 1)}, "1")
		rec.next()
		assert.Equal(t, measures{"queued 1", "version 1", "took 0s", "queued 0"}, told)
		told = nil
		r.sink.Bookmark("2")
		rec.next()
		assert.Equal(t, measures{"queued 1", "version 2", "took 0s", "queued 0"}, told)
	})
}
