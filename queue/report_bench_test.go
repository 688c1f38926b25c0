package queue_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/queue"
)

// BenchmarkReport measures a report on a queue in which 100,000 keys wait, and none or
// 10,000 others fail.
func BenchmarkReport(b *testing.B) {
	for _, failing := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("failing=%d", failing), func(b *testing.B) {
			q := newQueue[cache.ObjectName](b)
			ctx, cancel := context.WithCancel(klog.NewContext(b.Context(), logr.Discard()))
			left, ended := failing, make(chan error)
			if failing == 0 {
				cancel()
			}
			for i := range failing {
				q.Add(cache.ObjectName{Namespace: "failing", Name: fmt.Sprint("pod-", i)})
			}
			go func() {
				ended <- q.Run(ctx, 1, func(context.Context, cache.ObjectName) error {
					if left--; left == 0 {
						cancel()
					}
					return queue.TerminalError(nil)
				})
			}()
			require.NoError(b, <-ended)
			require.Equal(b, failing, q.Report(0).FailingKeys)
			b.ReportAllocs()
			for b.Loop() {
				_ = q.Report(20)
			}
		})
	}
}

// BenchmarkRun measures what a worker does with a key besides processing it.
func BenchmarkRun(b *testing.B) {
	b.Run("succeeds", func(b *testing.B) { benchmarkRun(b, nil) })
	b.Run("fails", func(b *testing.B) { benchmarkRun(b, queue.TerminalError(nil)) })
	b.Run("watched", func(b *testing.B) { benchmarkRun(b, nil, queue.WithSlowReconciles(time.Second, time.Minute)) })
}

func benchmarkRun(b *testing.B, outcome error, opts ...queue.Option) {
	q := newQueue[int](b, opts...)
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	processed, ended := make(chan struct{}, 1), make(chan error)
	go func() {
		ended <- q.Run(ctx, 1, func(context.Context, int) error {
			processed <- struct{}{}
			return outcome
		})
	}()
	b.ReportAllocs()
	for b.Loop() {
		for i := range 100 {
			q.Add(i)
		}
		for range 100 {
			<-processed
		}
	}
	cancel()
	require.NoError(b, <-ended)
}
