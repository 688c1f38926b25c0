package benchmarks

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
)

// BenchmarkSmallInformer measures informers with next to nothing in them, of which
// programs have hundreds: one is made by either package's NewSharedIndexInformer,
// with an index by namespace and a handler, started, synced and stopped.
//
// live-B is what one that has synced holds, its goroutines' stacks included, and
// cpu-ns what processors do for an operation, the garbage collector included.
func BenchmarkSmallInformer(b *testing.B) {
	for _, objects := range []int{0, 1, 10} {
		c := cluster.New(max(objects, 1), 5)
		list := cluster.ListOf(c.Pods(1)[:objects], "1")
		for _, s := range dropInShared {
			make := func() *small { return startSmall(s, list) }
			b.Run(fmt.Sprintf("objects=%d/impl=%s", objects, s.impl), func(b *testing.B) {
				b.ReportAllocs()
				cpu := cpuTime(b)
				for b.Loop() {
					make().stop()
				}
				b.ReportMetric(float64((cpuTime(b)-cpu).Nanoseconds())/float64(b.N), "cpu-ns/op")
				b.StopTimer()
				b.ReportMetric(liveBytes(make), "live-B")
			})
		}
	}
}

// small is an informer that has synced.
type small struct {
	cache.SharedIndexInformer
	stop func()
}

func startSmall(s sharedSide, list kruntime.Object) *small {
	inf := s.make(plainLists{&cache.ListWatch{
		ListWithContextFunc:  func(context.Context, metav1.ListOptions) (kruntime.Object, error) { return list, nil },
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil },
	}}, namespaceIndexer())
	handle, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {}})
	if err != nil {
		panic(err) // the informer was not started
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		inf.RunWithContext(ctx)
	}()
	<-handle.HasSyncedChecker().Done()
	return &small{inf, func() { cancel(); <-ended }}
}

// plainLists are lists that are not streamed.
type plainLists struct{ *cache.ListWatch }

func (plainLists) IsWatchListSemanticsUnSupported() bool { return true }

// liveBytes returns the memory that an informer which has synced holds.
func liveBytes(make func() *small) float64 {
	const informers = 200
	before := heapAndStacks()
	var running []*small
	for range informers {
		running = append(running, make())
	}
	used := heapAndStacks() - before
	for _, s := range running {
		s.stop()
	}
	return float64(used) / informers
}

func heapAndStacks() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc + stats.StackInuse)
}
