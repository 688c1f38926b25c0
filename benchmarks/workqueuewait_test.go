package benchmarks

import (
	"slices"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubetyped/informer/index"
)

// BenchmarkWorkQueueWait measures the longest time that one call of a work queue takes, while a
// million keys are added to it one after the other, are handed out and are done. Concurrent
// calls of the queue wait as long.
//
// The metric max-wait-sec is that time, which includes pauses of the garbage
// collector and the scheduler, and p99.99-sec the one that 1 of 10,000 calls
// exceeds.
func BenchmarkWorkQueueWait(b *testing.B) {
	const n = 1_000_000
	keys := queueKeys(n)
	for _, s := range queueSides[:2] {
		b.Run("impl="+s.impl, func(b *testing.B) {
			waits := make([]time.Duration, 0, 3*n)
			for b.Loop() {
				waits = waits[:0]
				measure := func(call func()) {
					start := time.Now()
					call()
					waits = append(waits, time.Since(start))
				}
				q := s.make(b, clock.RealClock{})
				for i, key := range keys {
					measure(func() { s.add(q, i, key) })
				}
				for range keys {
					var key index.Key
					measure(func() { key, _ = q.Get() })
					measure(func() { q.Done(key) })
				}
				q.ShutDown()
			}
			slices.Sort(waits)
			b.ReportMetric(waits[len(waits)-1].Seconds(), "max-wait-sec")
			b.ReportMetric(waits[len(waits)-len(waits)/10_000].Seconds(), "p99.99-sec")
		})
	}
}
