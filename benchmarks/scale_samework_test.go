package benchmarks

import (
	"flag"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/benchmarks/internal/delivery"
	"github.com/kubetyped/informer/index"
)

// TestPointsDoTheSame measures points of each curve on a small cluster, twice as
// many events as there are, and compares what the informers hold in the end.
func TestPointsDoTheSame(t *testing.T) {
	const operations = 2500
	setBenchtime(t, fmt.Sprintf("%dx", operations))
	c := cluster.New(600, 20)
	plain := func() *sample { return newSample(c) }
	for _, test := range []struct {
		name     string
		sides    []side
		indexed  bool
		of       func() *sample
		handlers int
	}{
		{"objects", twoSides, true, plain, 1},
		{"handlers", twoSides, true, plain, 7},
		{"indexes", sidesWithIndexes(16), true, func() *sample { return newOwnSample(t, c, 50) }, 1},
		{"readers", twoSides, false, plain, 1},
	} {
		of := test.of()
		var held []map[*corev1.Pod]bool
		for _, s := range test.sides {
			t.Run(test.name+"/impl="+s.impl, func(t *testing.T) {
				p := newPoint(t, s, test.indexed, of, test.handlers)
				defer p.stop()
				result := testing.Benchmark(p.measure)
				assert.Equal(t, operations, result.N)
				for _, m := range p.Meters {
					assert.Equal(t, operations, m.Count())
				}
				assert.InDelta(t, 400*c.Size, result.Extra["heap-B"], float64(300*c.Size)+1_500_000)
				assert.Contains(t, result.Extra, "gc-ns/op")
				if s.impl == clientGoSide.impl {
					assert.Greater(t, result.Extra["allocs/op"], 5.0)
					assert.Greater(t, result.Extra["B/op"], 100.0)
					assert.Greater(t, result.Extra["gc-ns/op"], 1.0)
				}
				held = append(held, heldBy(t, p))
			})
		}
		require.Len(t, held, 2)
		assert.Len(t, held[0], c.Size)
		assert.Equal(t, held[0], held[1], test.name)
	}
}

// TestPortionsGoOn checks that each portion begins where the last one ended.
func TestPortionsGoOn(t *testing.T) {
	c := cluster.New(6, 2)
	of := newSample(c)
	events := of.events[:2*c.Size]
	assert.Equal(t, slices.Concat(events, events), of.events)
	for _, s := range twoSides {
		p := newPoint(t, s, true, of, 2)
		state, sent := map[string]*corev1.Pod{}, 0
		for _, n := range []int{5, 1, 12, 9, 30, 3} {
			for range n {
				pod := cluster.PodOf(events[sent%len(events)])
				state[pod.Name] = pod
				sent++
			}
			p.deliverNext(n)
			if len(state) == c.Size {
				assert.Equal(t, setOf(slices.Collect(maps.Values(state))), heldBy(t, p), "%s, after %d", s.impl, sent)
			}
		}
		assert.Len(t, state, c.Size)
		p.stop()
	}
}

// TestDeliveryForATime sends a whole portion at least.
func TestDeliveryForATime(t *testing.T) {
	p := newPoint(t, typedSide, true, newSample(cluster.New(6, 2)), 1)
	defer p.stop()
	assert.Equal(t, delivery.Window, p.deliverFor(0))
	assert.Equal(t, delivery.Window, p.Meters[0].Count())
	begin := time.Now()
	assert.Positive(t, p.deliverFor(20*time.Millisecond))
	assert.GreaterOrEqual(t, time.Since(begin), 20*time.Millisecond)
}

// TestScatteredUpdatesChangeSomething goes around the events as deliver does.
func TestScatteredUpdatesChangeSomething(t *testing.T) {
	c := cluster.New(300, 20)
	for _, most := range []int{20, 300, 1000} {
		events := scattered(c, most, c.Pod)
		require.Len(t, events, 2*min(most, c.Size))
		versions := map[string]string{}
		for range 2 {
			for _, event := range events {
				pod := cluster.PodOf(event)
				assert.NotEqual(t, versions[pod.Name], pod.ResourceVersion)
				versions[pod.Name] = pod.ResourceVersion
			}
		}
		assert.Len(t, versions, len(events)/2)
	}
}

// TestIndexesAreTheSame files Pods under the keys of all 16 indexes, on both
// sides.
func TestIndexesAreTheSame(t *testing.T) {
	c := cluster.New(600, 20)
	pods := c.Pods(1)
	for i := range pods {
		pods[i] = decoded(t, pods[i])
	}
	ours, indexers := typedIndexes(), cache.Indexers{}
	for _, i := range clientGoIndexes() {
		indexers[i.name] = i.keys
	}
	typedStore(t, pods, ours...)
	theirs := clientGoStore(t, pods, indexers)
	require.Len(t, ours, 16)
	multiple := 0
	for i, theirIndex := range clientGoIndexes() {
		require.Equal(t, theirIndex.name, ours[i].Name(), "in the same order")
		files := filesOf(t, ours[i])
		require.NotEmpty(t, files, theirIndex.name)
		assert.ElementsMatch(t, theirs.ListIndexFuncValues(theirIndex.name), slices.Collect(maps.Keys(files)))
		filed := 0
		for key, found := range files {
			want, err := theirs.ByIndex(theirIndex.name, key)
			require.NoError(t, err)
			assert.Equal(t, setOf(want), setOf(found), "%s %s", theirIndex.name, key)
			filed += len(found)
		}
		if filed > len(pods) {
			multiple++
		}
	}
	assert.Equal(t, 3, multiple, "indexes with several keys for an object")
}

// TestSidesHaveTheirIndexes checks that informers have as many as they should.
func TestSidesHaveTheirIndexes(t *testing.T) {
	pods := cluster.New(6, 2).Pods(1)
	for _, n := range []int{0, 1, 8, 16} {
		indexes := typedIndexes()[:n]
		newTypedWith(t, cluster.NewFeed(), indexes...)
		for _, x := range indexes {
			assert.ErrorIs(t, index.NewIndexer[*corev1.Pod]().AddIndexes(x), index.ErrIndexInUse)
		}
		theirs := sidesWithIndexes(n)[1].make(t, cluster.NewFeed(), true).(*clientGoInformer)
		require.NoError(t, theirs.GetIndexer().Add(pods[0]))
		require.Len(t, theirs.GetIndexer().GetIndexers(), n)
		for _, x := range clientGoIndexes()[:n] {
			assert.NotEmpty(t, theirs.GetIndexer().ListIndexFuncValues(x.name), x.name)
		}
	}
}

// filesOf returns the Pods of each key, as client-go would write it.
func filesOf(t *testing.T, handle index.Definition[*corev1.Pod]) map[string][]*corev1.Pod {
	switch x := handle.(type) {
	case *index.Index[string, *corev1.Pod]:
		return filed(x)
	case *index.Index[index.Key, *corev1.Pod]:
		return filed(x)
	case *index.Index[types.UID, *corev1.Pod]:
		return filed(x)
	case *index.Index[corev1.PodPhase, *corev1.Pod]:
		return filed(x)
	case *index.Index[corev1.PodQOSClass, *corev1.Pod]:
		return filed(x)
	}
	require.Fail(t, "unknown keys", "%T", handle)
	return nil
}

func filed[K comparable](x *index.Index[K, *corev1.Pod]) map[string][]*corev1.Pod {
	files := map[string][]*corev1.Pod{}
	for key := range x.Keys() {
		files[fmt.Sprint(key)] = x.Get(key)
	}
	return files
}

// TestCollectionsAreMeasured checks the live heap, and that a run over more
// objects takes longer.
func TestCollectionsAreMeasured(t *testing.T) {
	empty, short := collect()
	const elements = 1_000_000
	live := make([]*[4]int, elements)
	for i := range live {
		live[i] = new([4]int)
	}
	heap, long := collect()
	runtime.KeepAlive(live)
	assert.InDelta(t, elements*(8+32), heap-empty, 1_000_000)
	assert.Greater(t, long.cpu, short.cpu)
	assert.GreaterOrEqual(t, long.room, uint64(heap), "the heap may double")

	assert.InDelta(t, float64(long.cpu)/4, long.share(float64(long.room)/4), 1)
}

// setBenchtime sets how long testing.Benchmark measures.
func setBenchtime(t *testing.T, value string) {
	benchtime := flag.Lookup("test.benchtime").Value
	before := benchtime.String()
	require.NoError(t, benchtime.Set(value))
	t.Cleanup(func() { assert.NoError(t, benchtime.Set(before)) })
}

// heldBy returns the objects in the store of p.
func heldBy(t *testing.T, p *point) map[*corev1.Pod]bool {
	switch i := p.informer.(type) {
	case *typedInformer:
		return setOf(i.List())
	case *clientGoInformer:
		return setOf(i.GetStore().List())
	}
	require.Fail(t, "unknown informer", "%T", p.informer)
	return nil
}
