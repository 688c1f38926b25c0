package benchmarks

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/benchmarks/internal/ring"
)

// dropInSides are the same untyped program, which makes its informers by either
// package's NewSharedIndexInformer.
var dropInSides = []side{
	{"typed", func(_ testing.TB, from cache.ListerWatcher, indexed bool) informer {
		return newShared(adapters.NewSharedIndexInformer(from, &corev1.Pod{}, 0, indexersOf(indexed)))
	}},
	clientGoSide,
}

// dropInStores make an untyped store for each side, with Pods in it, as
// GetIndexer returns it.
var dropInStores = []struct {
	impl string
	make func(tb testing.TB, pods []*corev1.Pod, indexers cache.Indexers) cache.Indexer
}{
	{"typed", func(tb testing.TB, pods []*corev1.Pod, indexers cache.Indexers) cache.Indexer {
		return filled(tb, adapters.NewSharedIndexInformer(cluster.NewFeed(), &corev1.Pod{}, 0, indexers).GetIndexer(), pods)
	}},
	{"client-go", func(tb testing.TB, pods []*corev1.Pod, indexers cache.Indexers) cache.Indexer {
		return filled(tb, cache.NewSharedIndexInformer(cluster.NewFeed(), &corev1.Pod{}, 0, indexers).GetIndexer(), pods)
	}},
}

func filled(tb testing.TB, store cache.Indexer, pods []*corev1.Pod) cache.Indexer {
	list := make([]any, len(pods))
	for i, pod := range pods {
		list[i] = pod
	}
	require.NoError(tb, store.Replace(list, "1"))
	return store
}

// BenchmarkDropIn measures an existing, untyped program of client-go's before
// and after its constructor of informers is replaced by that of package
// adapters.
func BenchmarkDropIn(b *testing.B) {
	b.Run("EventPipeline", benchmarkDropInEvents)
	b.Run("InitialSync", benchmarkDropInSync)
	c := cluster.New(100_000, 100)
	pods := c.Pods(1)
	onStores := func(name string, indexers func() cache.Indexers, prepare func(store cache.Indexer) (read func())) {
		b.Run(name, func(b *testing.B) {
			for _, s := range dropInStores {
				b.Run("impl="+s.impl, func(b *testing.B) {
					read := prepare(s.make(b, pods, indexers()))
					runtime.GC() // frees the garbage of filling it
					b.ReportAllocs()
					for b.Loop() {
						read()
					}
				})
			}
		})
	}
	onStores("ByIndex/matches=100", twoIndexers, func(store cache.Indexer) func() {
		apps := ring.Of(c.Apps())
		return func() {
			if found, err := store.ByIndex("app", apps.Next()); len(found) != c.PerApp || err != nil {
				b.Fatalf("found %d objects, %v", len(found), err)
			}
		}
	})
	onStores("ListerList", namespaceIndexer, func(store cache.Indexer) func() {
		lister := corev1listers.NewPodLister(store)
		return func() {
			if found, err := lister.List(labels.Everything()); len(found) != c.Size || err != nil {
				b.Fatalf("found %d objects, %v", len(found), err)
			}
		}
	})
	onStores("GetByKey", namespaceIndexer, func(store cache.Indexer) func() {
		_, joined := keysOf(pods)
		keys := ring.Of(joined)
		return func() {
			if _, ok, _ := store.GetByKey(keys.Next()); !ok {
				b.Fatal("not found")
			}
		}
	})
}

// benchmarkDropInEvents does what BenchmarkEventPipeline does.
func benchmarkDropInEvents(b *testing.B) {
	c := cluster.New(10_000, 100)
	list := cluster.ListOf(c.Pods(1), "1")
	events := c.Updates(2 * c.Size)
	for _, handlers := range []int{1, 4, 16} {
		for _, s := range dropInSides {
			b.Run(fmt.Sprintf("handlers=%d/impl=%s", handlers, s.impl), func(b *testing.B) {
				benchmarkEvents(b, s, list, events, handlers)
			})
		}
	}
}

// benchmarkDropInSync does what BenchmarkInitialSync does.
func benchmarkDropInSync(b *testing.B) {
	const objects = 100_000
	list := cluster.ListOf(cluster.New(objects, 100).Pods(1), "1")
	for _, s := range dropInSides {
		b.Run("impl="+s.impl, func(b *testing.B) { benchmarkSync(b, s, list, objects) })
	}
}

// newShared returns an informer of client-go's shape.
func newShared(i cache.SharedIndexInformer) informer {
	return &clientGoInformer{SharedIndexInformer: i, pods: corev1listers.NewPodLister(i.GetIndexer())}
}

// indexersOf returns the indexes that the informers of a side have.
func indexersOf(indexed bool) cache.Indexers {
	if indexed {
		return twoIndexers()
	}
	return namespaceIndexer()
}
