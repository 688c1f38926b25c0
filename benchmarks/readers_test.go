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
	b.ReportAllocs()
	reads := whileRead(b, p, readers, func() {
		b.ResetTimer()
		p.deliver(events, b.N)
		b.StopTimer()
	})
	reportReaders(b, b.N, reads)
}

// whileRead calls write while readers list one namespace after the other, and
// returns how many lists they have got meanwhile.
func whileRead(b *testing.B, from informer, readers int, write func()) (reads int64) {
	var reading sync.WaitGroup
	var started sync.WaitGroup
	var stop atomic.Bool
	var count atomic.Int64
	started.Add(readers)
	for reader := range readers {
		reading.Go(func() {
			started.Done()
			for n := reader; !stop.Load(); n++ {
				if found, err := from.list(cluster.NamespaceName(n % cluster.Namespaces)); len(found) == 0 || err != nil {
					b.Errorf("found %d objects, %v", len(found), err)
					return
				}
				count.Add(1)
			}
		})
	}
	started.Wait()
	before := count.Load()
	write()
	reads = count.Load() - before
	stop.Store(true)
	reading.Wait()
	return reads
}

// reportReaders reports updates and reads for each second that was measured.
func reportReaders(b *testing.B, updates int, reads int64) {
	b.ReportMetric(float64(updates)/b.Elapsed().Seconds(), "writes/s")
	b.ReportMetric(float64(reads)/b.Elapsed().Seconds(), "reads/s")
}
