package benchmarks

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/benchmarks/internal/ring"
	"github.com/kubetyped/informer/lister"
)

// BenchmarkGet measures reading an object by its key, one of 100,000. The key is
// what a work queue of the side holds: a struct, or namespace and name joined.
func BenchmarkGet(b *testing.B) {
	pods := cluster.New(100_000, 100).Pods(1)
	keys, joined := keysOf(pods)
	b.Run("impl=typed", func(b *testing.B) {
		store := typedStore(b, pods)
		keys := ring.Of(keys)
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := store.Get(keys.Next()); !ok {
				b.Fatal("not found")
			}
		}
	})
	b.Run("impl=client-go", func(b *testing.B) {
		store := clientGoStore(b, pods, namespaceIndexer())
		keys := ring.Of(joined)
		b.ReportAllocs()
		for b.Loop() {
			if _, ok, err := store.GetByKey(keys.Next()); !ok || err != nil {
				b.Fatal("not found")
			}
		}
	})
}

// BenchmarkParallelGet is BenchmarkGet on all processors at once, in a store of 1,000 objects:
// it measures more of the lock, and less of memory.
func BenchmarkParallelGet(b *testing.B) {
	pods := cluster.New(1000, 100).Pods(1)
	keys, joined := keysOf(pods)
	b.Run("impl=typed", func(b *testing.B) {
		store := typedStore(b, pods)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			keys := ring.Of(keys)
			for pb.Next() {
				if _, ok := store.Get(keys.Next()); !ok {
					b.Error("not found")
				}
			}
		})
	})
	b.Run("impl=client-go", func(b *testing.B) {
		store := clientGoStore(b, pods, namespaceIndexer())
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			keys := ring.Of(joined)
			for pb.Next() {
				if _, ok, err := store.GetByKey(keys.Next()); !ok || err != nil {
					b.Error("not found")
				}
			}
		})
	})
}

// BenchmarkListerGet measures reading an object by namespace and name from a
// lister, one of 100,000.
func BenchmarkListerGet(b *testing.B) {
	pods := cluster.New(100_000, 100).Pods(1)
	keys, _ := keysOf(pods)
	get := func(b *testing.B, get func(namespace, name string) (*corev1.Pod, error)) {
		keys := ring.Of(keys)
		b.ReportAllocs()
		for b.Loop() {
			key := keys.Next()
			if _, err := get(key.Namespace, key.Name); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("impl=typed", func(b *testing.B) {
		pods := lister.New(typedStore(b, pods))
		get(b, func(namespace, name string) (*corev1.Pod, error) { return pods.Namespace(namespace).Get(name) })
	})
	b.Run("impl=client-go", func(b *testing.B) {
		pods := corev1listers.NewPodLister(clientGoStore(b, pods, namespaceIndexer()))
		get(b, func(namespace, name string) (*corev1.Pod, error) { return pods.Pods(namespace).Get(name) })
	})
}
