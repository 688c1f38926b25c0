package peers

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/benchmarks/internal/delivery"
)

// BenchmarkPeerEvents measures the way of a watch event through a cache of
// 10,000 Pods with two indexes to every handler. An operation is one update that
// all handlers have got, or that is merged into a later one that they have got.
//
// Some thousand events are in flight at a time: see delivery.Window.
func BenchmarkPeerEvents(b *testing.B) {
	c := cluster.New(10_000, 100)
	pods := c.Pods(1)
	events := c.Updates(2 * c.Size)
	for _, handlers := range []int{1, 16} {
		for _, p := range eventPeers {
			b.Run(fmt.Sprintf("handlers=%d/impl=%s", handlers, p.impl), func(b *testing.B) {
				benchmarkPeerEvents(b, p, pods, events, handlers)
			})
		}
	}
}

func benchmarkPeerEvents(b *testing.B, p peer, pods []*corev1.Pod, events []watch.Event, handlers int) {
	d := delivery.New(handlers)
	from := newSource(pods)
	started := p.start(b, from, metered(d)...)
	defer started.stop()
	b.ReportAllocs()
	b.ResetTimer()
	d.Send(from.Events, events, b.N)
	b.StopTimer()
}

// metered returns a handler for each meter of d.
func metered(d *delivery.Delivery) []calls {
	var handlers []calls
	for _, m := range d.Meters {
		handlers = append(handlers, calls{update: func(_ *corev1.Pod, merged int) {
			for range 1 + merged {
				m.Add()
			}
		}})
	}
	return handlers
}
