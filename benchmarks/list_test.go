package benchmarks

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/benchmarks/internal/ring"
	"github.com/kubetyped/informer/lister"
)

// BenchmarkList measures three ways to read all objects. The store returns a slice, which is
// []any with client-go. A lister returns a slice of Pods. Only this project also ranges over
// them.
func BenchmarkList(b *testing.B) {
	for _, objects := range []int{100_000} {
		pods := cluster.New(objects, 100).Pods(1)
		typed := typedStore(b, pods)
		clientGo := clientGoStore(b, pods, namespaceIndexer())
		list := func(name string, list func() int) {
			b.Run(fmt.Sprintf("objects=%d/%s", objects, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if found := list(); found != objects {
						b.Fatalf("found %d objects", found)
					}
				}
			})
		}
		list("form=slice/impl=typed", func() int { return len(typed.List()) })
		list("form=slice/impl=client-go", func() int { return len(clientGo.List()) })

		typedLister := lister.New(typed)
		clientGoLister := corev1listers.NewPodLister(clientGo)
		list("form=lister/impl=typed", func() int {
			found, _ := typedLister.List(labels.Everything())
			return len(found)
		})
		list("form=lister/impl=client-go", func() int {
			found, _ := clientGoLister.List(labels.Everything())
			return len(found)
		})

		list("form=range/impl=typed", func() int {
			found := 0
			for range typed.All() {
				found++
			}
			return found
		})
	}
}

// BenchmarkListSelector measures listing the Pods of one application by a label
// selector, 100 of them, in all namespaces, with and without an index on the
// label. Listers of client-go have no use for one: it lists the same way in
// both, and BenchmarkByIndex has what its users do instead.
func BenchmarkListSelector(b *testing.B) {
	const matches = 100
	for _, objects := range []int{100_000} {
		c := cluster.New(objects, matches)
		pods := c.Pods(1)
		selectors := selectorsOf(c)
		indexed := lister.New(typedStore(b, pods, indexByLabel()))
		plain := lister.New(typedStore(b, pods))
		clientGo := corev1listers.NewPodLister(clientGoStore(b, pods, namespaceIndexer()))
		for _, side := range []struct {
			name string
			list func(labels.Selector) ([]*corev1.Pod, error)
		}{
			{"index=label/impl=typed", indexed.List},
			{"index=label/impl=client-go", clientGo.List},
			{"index=none/impl=typed", plain.List},
			{"index=none/impl=client-go", clientGo.List},
		} {
			b.Run(fmt.Sprintf("objects=%d/%s", objects, side.name), func(b *testing.B) {
				selectors := ring.Of(selectors)
				b.ReportAllocs()
				for b.Loop() {
					if found, err := side.list(selectors.Next()); len(found) != matches || err != nil {
						b.Fatalf("found %d objects, %v", len(found), err)
					}
				}
			})
		}
	}
}

// selectorsOf returns a selector for each application, in random order.
func selectorsOf(c *cluster.Cluster) []labels.Selector {
	var selectors []labels.Selector
	for _, app := range c.Apps() {
		selectors = append(selectors, labels.SelectorFromSet(labels.Set{"app": app}))
	}
	return selectors
}
