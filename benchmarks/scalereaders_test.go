package benchmarks

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/benchmarks/internal/delivery"
)

// BenchmarkScaleReaders varies the number of readers of ReadersVsWriter, with as
// many objects and no other indexes than there. What is allocated, and gc-ns/op
// with it, is that of an update together with all that was read meanwhile.
//
// Readers give up their processor when their time slice ends, after 10 ms, so
// with 80 of them on two processors it is the informer's turn every 0.4 s. How
// many updates it gets done then depends on how many there are. So a round does
// not send b.N of them, of which a slow side would get few, but the same number
// at a time on both sides, for a second at least.
func BenchmarkScaleReaders(b *testing.B) {
	of := sync.OnceValue(func() *sample { return newSample(cluster.New(160_000, 100)) })
	for _, readers := range []int{0, 1, 2, 8, 32, 80} {
		for _, s := range twoSides {
			start := func() *point { return newPoint(b, s, false, of(), 1) }
			benchmarkPoint(b, fmt.Sprintf("readers=%d/impl=%s", readers, s.impl), start, func(p *point, b *testing.B) {
				updates := 0
				reads := whileRead(b, p, readers, func() {
					p.time(b, func() int {
						updates = p.deliverFor(time.Second)
						return updates
					})
				})
				reportReaders(b, updates, reads)
			})
		}
	}
}

// deliverFor delivers as many events at a time as may be under way, until it has
// done so for long enough, and returns how many there were.
func (p *point) deliverFor(long time.Duration) (events int) {
	for begin := time.Now(); events == 0 || time.Since(begin) < long; events += delivery.Window {
		p.deliverNext(delivery.Window)
	}
	return events
}
