package benchmarks

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// BenchmarkEventPipeline measures the way of a watch event, from the watch
// through queue, store and two indexes to every handler. An operation is one
// update that all handlers have got.
func BenchmarkEventPipeline(b *testing.B) {
	c := newCluster(10_000, 100)
	list := listOf(c.pods(1), "1")
	events := updates(c, 2*c.size)
	for _, handlers := range []int{1, 4, 16} {
		for _, s := range allSides {
			b.Run(fmt.Sprintf("handlers=%d/impl=%s", handlers, s.impl), func(b *testing.B) {
				benchmarkEvents(b, s, list, events, handlers)
			})
		}
	}
}

func benchmarkEvents(b *testing.B, s side, list runtime.Object, events []watch.Event, handlers int) {
	p := newPipeline(b, s, true, list, handlers)
	defer p.stop()
	b.ReportAllocs()
	b.ResetTimer()
	p.deliver(events, b.N)
	b.StopTimer()
}
