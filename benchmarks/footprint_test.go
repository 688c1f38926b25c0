package benchmarks

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	kruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
)

// BenchmarkFootprint measures what an informer holds beyond the objects: the
// heap of its store with two indexes, for each object, and its goroutines with
// one handler and with sixteen. Both are taken when it has synced and has
// nothing to do. This project's store has an index by namespace as well.
func BenchmarkFootprint(b *testing.B) {
	for _, objects := range []int{100_000} {
		list := cluster.ListOf(cluster.New(objects, 100).Pods(1), "1")
		for _, s := range twoSides {
			b.Run(fmt.Sprintf("objects=%d/impl=%s", objects, s.impl), func(b *testing.B) {
				var f footprint
				for b.Loop() {
					f.measure(b, s, list)
				}
				b.ReportMetric(0, "ns/op") // how long it took to measure
				b.ReportMetric(float64(f.heap)/float64(f.rounds)/float64(objects), "B/object")
				b.ReportMetric(float64(f.goroutines1)/float64(f.rounds), "goroutines-1-handler")
				b.ReportMetric(float64(f.goroutines16)/float64(f.rounds), "goroutines-16-handlers")
			})
		}
	}
}

// footprint is the sum of several measurements.
type footprint struct {
	rounds                    int
	heap                      int64
	goroutines1, goroutines16 int
}

func (f *footprint) measure(b *testing.B, s side, list kruntime.Object) {
	heap, goroutines := heapInUse(), settled(runtime.NumGoroutine())
	r := startSynced(b, s, true, list, calls{})
	f.heap += heapInUse() - heap
	f.goroutines1 += settled(goroutines+1) - goroutines
	r.stop()

	goroutines = settled(goroutines)
	r = startSynced(b, s, true, list, make([]calls, 16)...)
	f.goroutines16 += settled(goroutines+16) - goroutines
	r.stop()
	f.rounds++
}

// heapInUse returns the bytes of live objects. The second collection takes what
// the first one left in pools.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// settled returns the number of goroutines as soon as it is no more than most,
// or has stayed the same for a while: those that are about to end are waited
// for.
func settled(most int) int {
	n := runtime.NumGoroutine()
	for still := 0; n > most && still < 20; still++ {
		time.Sleep(time.Millisecond)
		if now := runtime.NumGoroutine(); now != n {
			n, still = now, 0
		}
	}
	return n
}
