package peers

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/benchmarks/internal/ring"
	"github.com/kubetyped/informer/index"
)

// BenchmarkPeerReads measures reads that nothing disturbs among 100,000 Pods.
//
//   - get: one Pod by its key, a struct or a string, as the cache takes it.
//   - list-index, list-namespace, list-all: the 100 Pods of an index key, the
//     1,000 of a namespace, or all, as a slice.
//   - range-index, range-all: the same Pods in a loop, without a slice, with the
//     caches that have that.
func BenchmarkPeerReads(b *testing.B) {
	const size, perApp = 100_000, 100
	c := cluster.New(size, perApp)
	pods := c.Pods(1)
	caches := map[string]podCache{}
	for _, p := range readPeers {
		caches[p.impl] = p.start(b, newSource(pods))
		defer caches[p.impl].stop()
	}
	keys, apps := keysOf(pods), c.Apps()
	for _, op := range readOps(keys, apps, size, perApp) {
		for _, p := range readPeers {
			read := op.of(caches[p.impl])
			if read == nil {
				continue
			}
			b.Run(fmt.Sprintf("op=%s/impl=%s", op.name, p.impl), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if n := read(); n != op.finds {
						b.Fatalf("found %d Pods", n)
					}
				}
			})
		}
	}
}

// readOp is one of the reads that are compared.
type readOp struct {
	name  string
	finds int // so many Pods
	// of returns a function that reads from a cache and returns how many Pods it has found, nil
	// if the cache cannot do it.
	of func(c podCache) func() int
}

func readOps(keys []podKey, apps []string, size, perApp int) []readOp {
	return []readOp{
		{"get", 1, func(c podCache) func() int {
			keys := ring.Of(keys)
			return func() int {
				if _, ok := c.get(keys.Next()); !ok {
					return 0
				}
				return 1
			}
		}},
		{"list-index", perApp, func(c podCache) func() int {
			apps := ring.Of(apps)
			return func() int { return c.byApp(apps.Next()).len() }
		}},
		{"list-namespace", size / cluster.Namespaces, func(c podCache) func() int {
			names := ring.Of(namespaceNames())
			return func() int { return c.inNamespace(names.Next()).len() }
		}},
		{"list-all", size, func(c podCache) func() int {
			return func() int { return c.all().len() }
		}},
		{"range-index", perApp, func(c podCache) func() int {
			ranging, ok := c.(rangingCache)
			if !ok {
				return nil
			}
			apps := ring.Of(apps)
			return func() int { return ranging.rangeByApp(apps.Next()) }
		}},
		{"range-all", size, func(c podCache) func() int {
			ranging, ok := c.(rangingCache)
			if !ok {
				return nil
			}
			return ranging.rangeAll
		}},
	}
}

// keysOf returns the keys of pods in random order, made of other strings than
// those of the Pods.
func keysOf(pods []*corev1.Pod) []podKey {
	var keys []podKey
	for _, i := range rand.New(rand.NewPCG(7, 7)).Perm(len(pods)) {
		key := index.Key{Namespace: strings.Clone(pods[i].Namespace), Name: strings.Clone(pods[i].Name)}
		keys = append(keys, podKey{Key: key, joined: key.String()})
	}
	return keys
}

func namespaceNames() []string {
	var names []string
	for n := range cluster.Namespaces {
		names = append(names, cluster.NamespaceName(n))
	}
	return names
}
