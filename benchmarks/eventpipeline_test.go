package benchmarks

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
)

// BenchmarkEventPipeline measures the way of a watch event, from the watch
// through queue, store and two indexes to every handler. An operation is one
// update that all handlers have got.
func BenchmarkEventPipeline(b *testing.B) {
	c := cluster.New(10_000, 100)
	list := cluster.ListOf(c.Pods(1), "1")
	events := c.Updates(2 * c.Size)
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
