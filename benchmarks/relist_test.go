package benchmarks

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
)

// BenchmarkRelist measures a full list after the first one, for an informer with
// two indexes and one handler: from the moment at which the list has arrived to
// the handler's last call. All objects of the list are new ones, as from a
// decoder, and one in a hundred of them has changed. Both sides deliver an
// update for each.
//
// The garbage collector is off meanwhile, and so each byte that is allocated
// adds to the heap: peak-extra-B is the most by which a relist can raise it
// between two collections. It does not depend on when one begins, and is the
// same from run to run. The list itself is not part of it.
//
// The Reflector waits for 0.8 to 1.6 s before it lists again. That is not part
// of the time, but is why the benchmark takes so long.
func BenchmarkRelist(b *testing.B) {
	for _, objects := range []int{100_000} {
		first, second := relistOf(cluster.New(objects, 100))
		for _, s := range twoSides {
			b.Run(fmt.Sprintf("objects=%d/impl=%s", objects, s.impl), func(b *testing.B) {
				b.ReportAllocs()
				var extra uint64
				rounds := 0
				for b.Loop() {
					b.StopTimer()
					extra += relist(b, s, first, second, objects)
					rounds++
					b.StartTimer()
				}
				b.ReportMetric(float64(extra)/float64(rounds), "peak-extra-B")
			})
		}
	}
}

// relistOf returns a list of c's Pods, and one of the same Pods later.
func relistOf(c *cluster.Cluster) (first, second kruntime.Object) {
	later := c.Pods(1)
	for n, at := range c.Shuffled(0) {
		if n%100 == 0 {
			later[at] = c.Pod(n, 2)
		}
	}
	return cluster.ListOf(c.Pods(1), "1"), cluster.ListOf(later, "20000000")
}

// relist gives an informer the first list, then the second with the timer on.
// It returns the bytes that were allocated for the second.
func relist(b *testing.B, s side, first, second kruntime.Object, objects int) uint64 {
	last := make(chan struct{})
	count := nth(objects, last)
	r := startSynced(b, s, true, first, calls{update: func(_, updated *corev1.Pod) { count(updated) }})
	defer r.stop()
	r.Expire()

	var before, after runtime.MemStats
	percent := 0
	r.Answer(second, func() {
		runtime.GC()
		percent = debug.SetGCPercent(-1)
		runtime.ReadMemStats(&before)
		b.StartTimer()
	})
	<-last
	b.StopTimer()
	runtime.ReadMemStats(&after)
	debug.SetGCPercent(percent)
	return after.TotalAlloc - before.TotalAlloc
}
