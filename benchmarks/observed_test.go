package benchmarks

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/observe"
)

// observing are the options that show what an informer does, all of them.
func observing() []typed.Option {
	return []typed.Option{
		observe.WithSlowHandlers(time.Second, time.Minute), observe.WithSlowIndexes(time.Second), observe.WithHistory(1000),
		observe.WithBudget(observe.Budget{Objects: 1 << 40, Bytes: 1 << 50}),
	}
}

// BenchmarkObserved measures what it costs to have an informer watched: its calls timed,
// its last events kept, its index functions and budgets looked after. An operation is an
// event: of a pipeline without network, as in BenchmarkEventPipeline, and of a whole
// process, as in BenchmarkWatchDecode.
func BenchmarkObserved(b *testing.B) {
	c := cluster.New(10_000, 100)
	list := cluster.ListOf(c.Pods(1), "1")
	events := c.Updates(2 * c.Size)
	observed := side{"observed", func(tb testing.TB, from cache.ListerWatcher, _ bool) informer {
		i := typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](from), observing()...)
		require.NoError(tb, i.AddIndexes(indexByNode(), indexByApp()))
		return &typedInformer{Informer: i, pods: lister.New(i)}
	}}
	for _, s := range []side{typedSide, observed} {
		b.Run("way=pipeline/impl="+s.impl, func(b *testing.B) { benchmarkEvents(b, s, list, events, 1) })
	}
	url, _ := startTask(b, fmt.Sprintf("serve 0 %d %s", keptPods, runtime.ContentTypeProtobuf))
	config := &rest.Config{Host: url, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf}}
	for name, opts := range map[string][]typed.Option{"typed": nil, "observed": observing()} {
		b.Run("way=process/impl="+name, func(b *testing.B) {
			ctx, cancel := context.WithCancel(b.Context())
			var running sync.WaitGroup
			defer running.Wait()
			defer cancel()
			count := &counter{reached: make(chan struct{}, 1)}
			reached := count.expect(2 * keptPods)
			running.Go(func() { informTypedPods(b, ctx, config, count, opts...) })
			<-reached
			b.ReportAllocs()
			b.ResetTimer()
			before := cpuTime(b)
			<-count.expect(b.N)
			b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}
