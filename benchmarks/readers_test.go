package benchmarks

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
)

// BenchmarkReadersVsWriter measures an informer under load: readers that list
// one namespace after the other through a lister, without a pause, while the
// watch sends updates as fast as they are taken. An operation is one update
// that has reached the handler.
//
// There are far more readers than processors, so reads/s tells what a read
// costs together with what readers wait for; writes/s depends on the scheduler
// too, as the informer's goroutines have to take turns with the readers.
func BenchmarkReadersVsWriter(b *testing.B) {
	for _, objects := range []int{160_000} {
		c := cluster.New(objects, 100)
		list := cluster.ListOf(c.Pods(1), "1")
		events := c.Updates(20_000)
		for _, readers := range []int{8, 80} {
			for _, s := range twoSides {
				p := newPipeline(b, s, false, list, 1)
				b.Run(fmt.Sprintf("objects=%d/readers=%d/impl=%s", objects, readers, s.impl), func(b *testing.B) {
					benchmarkReaders(b, p, events, readers)
				})
				p.stop()
			}
		}
	}
}

func benchmarkReaders(b *testing.B, p *pipeline, events []watch.Event, readers int) {
	var reading sync.WaitGroup
	var started sync.WaitGroup
	var stop atomic.Bool
	var reads atomic.Int64
	started.Add(readers)
	for reader := range readers {
		reading.Go(func() {
			started.Done()
			for n := reader; !stop.Load(); n++ {
				if found, err := p.list(cluster.NamespaceName(n % cluster.Namespaces)); len(found) == 0 || err != nil {
					b.Errorf("found %d objects, %v", len(found), err)
					return
				}
				reads.Add(1)
			}
		})
	}
	started.Wait()
	b.ReportAllocs()
	b.ResetTimer()
	before := reads.Load()
	p.deliver(events, b.N)
	b.StopTimer()
	done := reads.Load() - before
	stop.Store(true)
	reading.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
	b.ReportMetric(float64(done)/b.Elapsed().Seconds(), "reads/s")
}
