package benchmarks

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/benchmarks/internal/delivery"
)

// BenchmarkReadersVsWriter measures an informer under load: readers that list
// one namespace after the other through a lister, without a pause, while the
// watch sends updates as fast as they are taken. An operation is one update
// that has reached the handler.
//
// There are far more readers than processors, so reads/s shows the cost of a read together with
// the time that readers wait; writes/s depends on the scheduler too, as the informer's
// goroutines have to take turns with the readers.
//
// Readers give up their processor when their time slice ends, after 10 ms, so
// with 80 of them on two processors it is the informer's turn every 0.4 s. How
// many updates it gets done then depends on how many there are. So a round does
// not send b.N of them, of which a slow side would get few, but the same number
// at a time on both sides, for a second at least.
func BenchmarkReadersVsWriter(b *testing.B) {
	of := sync.OnceValue(readSample)
	for _, readers := range []int{8, 80} {
		for _, s := range twoSides {
			benchmarkReaders(b, fmt.Sprintf("objects=%d/readers=%d/impl=%s", readObjects, readers, s.impl), s, of, readers)
		}
	}
}

const readObjects = 160_000

func readSample() *sample { return newSample(cluster.New(readObjects, 100)) }

// benchmarkReaders runs one side with so many readers. The allocations, and gc-ns/op with them,
// are those of an update together with all reads meanwhile.
func benchmarkReaders(b *testing.B, name string, s side, of func() *sample, readers int) {
	start := func() *point { return newPoint(b, s, false, of(), 1) }
	benchmarkPoint(b, name, start, func(p *point, b *testing.B) {
		updates := 0
		reads := whileRead(b, p, readers, func() {
			p.time(b, func() int {
				updates = p.deliverFor(time.Second)
				return updates
			})
		})
		b.ReportMetric(float64(updates)/b.Elapsed().Seconds(), "writes/s")
		b.ReportMetric(float64(reads)/b.Elapsed().Seconds(), "reads/s")
	})
}

// deliverFor delivers as many events at a time as may be in flight, until it has done so for
// long enough, and returns how many there were.
func (p *point) deliverFor(long time.Duration) (events int) {
	for begin := time.Now(); events == 0 || time.Since(begin) < long; events += delivery.Window {
		p.deliverNext(delivery.Window)
	}
	return events
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
