package benchmarks

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/benchmarks/internal/ring"
	"github.com/kubetyped/informer/index"
)

// BenchmarkUpdate measures replacing one of 100,000 objects in a store by a
// newer version of it, with the same index keys. It goes around a hundred
// objects, with two versions of each: an object that is about to be stored has
// just been decoded, so the processor has it at hand, and in a cluster most
// changes are to few objects.
func BenchmarkUpdate(b *testing.B) {
	c := cluster.New(100_000, 100)
	pods := c.Pods(1)
	newer := c.Newer(100)
	for _, side := range []struct {
		indexes  int
		typed    []index.Definition[*corev1.Pod]
		clientGo cache.Indexers
	}{
		{0, nil, cache.Indexers{}},
		{2, []index.Definition[*corev1.Pod]{indexByNode(), indexByApp()}, twoIndexers()},
	} {
		b.Run(fmt.Sprintf("indexes=%d", side.indexes), func(b *testing.B) {
			typed := typedStore(b, pods, side.typed...)
			clientGo := clientGoStore(b, pods, side.clientGo)
			b.Run("impl=typed", func(b *testing.B) { updateTyped(b, typed, newer) })
			b.Run("impl=client-go", func(b *testing.B) { updateClientGo(b, clientGo, newer) })
		})
	}
}

func updateTyped(b *testing.B, store *index.Indexer[*corev1.Pod], newer []*corev1.Pod) {
	pods := ring.Of(newer)
	changes := make([]index.Change[*corev1.Pod], 1)
	events := make([]index.Event[*corev1.Pod], 0, 1)
	b.ReportAllocs()
	for b.Loop() {
		pod := pods.Next()
		changes[0] = index.Change[*corev1.Pod]{Reason: index.Watched, Object: pod}
		events = store.Apply(events[:0], changes, pod.ResourceVersion)
	}
}

func updateClientGo(b *testing.B, store cache.Indexer, newer []*corev1.Pod) {
	pods := ring.Of(newer)
	b.ReportAllocs()
	for b.Loop() {
		if err := store.Update(pods.Next()); err != nil {
			b.Fatal(err)
		}
	}
}
