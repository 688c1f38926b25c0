package benchmarks

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
)

// BenchmarkLatency measures how long one event takes from the watch to the
// handler when the informer has nothing else to do: each is sent after a pause
// in which everything goes to sleep. The time of an operation is the mean, and
// leaves out the pause.
func BenchmarkLatency(b *testing.B) {
	const pause = 200 * time.Microsecond
	c := cluster.New(10_000, 100)
	list := cluster.ListOf(c.Pods(1), "1")
	events := c.Updates(2 * c.Size)
	for _, s := range allSides {
		b.Run("impl="+s.impl, func(b *testing.B) {
			arrived := make(chan time.Time, 1)
			r := startSynced(b, s, true, list, calls{update: func(_, _ *corev1.Pod) { arrived <- time.Now() }})
			defer r.stop()
			took := make([]time.Duration, b.N)
			b.ResetTimer()
			for i := range took {
				time.Sleep(pause)
				sent := time.Now()
				r.Events <- events[i%len(events)]
				took[i] = (<-arrived).Sub(sent)
			}
			b.StopTimer()
			var sum time.Duration
			for _, d := range took {
				sum += d
			}
			slices.Sort(took)
			b.ReportMetric(float64(sum)/float64(b.N), "ns/op")
			b.ReportMetric(float64(took[b.N/2]), "p50-ns")
			b.ReportMetric(float64(took[b.N*99/100]), "p99-ns")
		})
	}
}
