package benchmarks

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/benchmarks/internal/ring"
)

// BenchmarkByIndex measures finding the objects of one index key, each time
// another key, among 100,000 objects: as a slice, and ranging over them, which
// only this project has.
func BenchmarkByIndex(b *testing.B) {
	for _, matches := range []int{1, 100, 2000} {
		b.Run(fmt.Sprintf("matches=%d", matches), func(b *testing.B) {
			c := cluster.New(100_000, matches)
			benchmarkByIndex(b, c, matches)
		})
	}
}

func benchmarkByIndex(b *testing.B, c *cluster.Cluster, matches int) {
	pods := c.Pods(1)
	apps := c.Apps()
	look := func(name string, find func(app string) int) {
		b.Run(name, func(b *testing.B) {
			apps := ring.Of(apps)
			b.ReportAllocs()
			for b.Loop() {
				if found := find(apps.Next()); found != matches {
					b.Fatalf("found %d objects", found)
				}
			}
		})
	}

	byApp := indexByApp()
	typedStore(b, pods, indexByNode(), byApp)
	look("form=slice/impl=typed", func(app string) int { return len(byApp.Get(app)) })

	store := clientGoStore(b, pods, twoIndexers())
	look("form=slice/impl=client-go", func(app string) int {
		found, err := store.ByIndex("app", app)
		if err != nil {
			b.Fatal(err)
		}
		return len(found)
	})

	informer := cache.NewTypedSharedIndexInformer[*corev1.Pod](cache.NewSharedIndexInformer(cluster.NewFeed(), pods[0], 0, cache.TypedIndexersToIndexers(twoTypedIndexers())))
	for _, pod := range pods {
		require.NoError(b, informer.GetIndexer().Add(pod))
	}
	typedIndexer := informer.GetTypedIndexer()
	look("form=slice/impl=client-go-typed", func(app string) int {
		found, err := typedIndexer.ByTypedIndex("app", app)
		if err != nil {
			b.Fatal(err)
		}
		return len(found)
	})

	look("form=range/impl=typed", func(app string) int {
		found := 0
		for range byApp.All(app) {
			found++
		}
		return found
	})
}
