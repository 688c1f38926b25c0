package benchmarks

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
)

// The benchmarks whose names begin with Scale are curves: each varies one size
// of an informer that is otherwise as that of EventPipeline. An operation is one
// update that all handlers have got.
//
// Besides time and allocations, they report
//
//   - heap-B: the live heap of the synced informer beyond the objects, as
//     Footprint measures it, and heap-B/object where the objects vary;
//   - gc-ns/op: the processor time of the garbage collector that an operation
//     is to blame for. See collection.
//
// An informer is made once for each point and side, when the point is asked
// for, and the objects and events once for both sides.

// BenchmarkScaleObjects varies the number of objects, with two indexes and one
// handler. The events are two new versions of every object, or of 100,000 at
// random where there are more: what these touch is larger than the processor's
// caches, so it makes little difference that the others stay as they are.
func BenchmarkScaleObjects(b *testing.B) {
	for _, objects := range []int{1_000, 10_000, 100_000, 1_000_000} {
		of := sync.OnceValue(func() *sample { return newSample(cluster.New(objects, 100)) })
		for _, s := range twoSides {
			start := func() *point { return newPoint(b, s, true, of(), 1) }
			benchmarkPoint(b, fmt.Sprintf("objects=%d/impl=%s", objects, s.impl), start, func(p *point, b *testing.B) {
				p.measure(b)
				b.ReportMetric(float64(p.heap)/float64(objects), "heap-B/object")
			})
		}
	}
}

// BenchmarkScaleHandlers varies the number of handlers, with 10,000 objects and
// two indexes.
func BenchmarkScaleHandlers(b *testing.B) {
	of := sync.OnceValue(func() *sample { return newSample(cluster.New(10_000, 100)) })
	for _, handlers := range []int{1, 4, 16, 64, 256} {
		for _, s := range twoSides {
			start := func() *point { return newPoint(b, s, true, of(), handlers) }
			benchmarkPoint(b, fmt.Sprintf("handlers=%d/impl=%s", handlers, s.impl), start, (*point).measure)
		}
	}
}

// sample is what points of a curve are measured with, the same for both sides.
type sample struct {
	list   kruntime.Object
	events []watch.Event // twice in a row, to go around from anywhere
	heap   int64         // live heap without an informer, in bytes
}

func newSample(c *cluster.Cluster) *sample {
	return sampleOf(c.Pods(1), scattered(c, 100_000, c.Pod))
}

// newOwnSample returns a sample of Pods that share nothing, with updates of so
// many of them.
func newOwnSample(tb testing.TB, c *cluster.Cluster, updated int) *sample {
	own := func(i, version int) *corev1.Pod { return decoded(tb, c.Whole(i, version)) }
	var pods []*corev1.Pod
	for _, i := range c.Shuffled(0) {
		pods = append(pods, own(i, 1))
	}
	events := scattered(c, updated, own)
	return sampleOf(pods, events)
}

func sampleOf(pods []*corev1.Pod, events []watch.Event) *sample {
	s := &sample{list: cluster.ListOf(pods, "1"), events: slices.Concat(events, events)}
	s.heap, _ = collect()
	return s
}

// decoded returns a copy of a Pod as it comes from a server, without its managed
// fields, which are the largest part of it.
func decoded(tb testing.TB, pod *corev1.Pod) *corev1.Pod {
	pod.ManagedFields = nil
	data, err := pod.Marshal()
	require.NoError(tb, err)
	own := new(corev1.Pod)
	require.NoError(tb, own.Unmarshal(data))
	return own
}

// scattered returns two updates of each of most objects at random, or of all of
// them if c has no more. Every one of them is updated before one is updated
// again, in random order, so that the state before an update never is the one
// after it. They are made by pod.
func scattered(c *cluster.Cluster, most int, pod func(i, version int) *corev1.Pod) []watch.Event {
	numbers := c.Shuffled(2)[:min(most, c.Size)]
	events := make([]watch.Event, 0, 2*len(numbers))
	for version := 2; version <= 3; version++ {
		order := rand.New(rand.NewPCG(uint64(version), 1))
		order.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
		for _, i := range numbers {
			events = append(events, watch.Event{Type: watch.Modified, Object: pod(i, version)})
		}
	}
	return events
}

// point is one side of a point of a curve: an informer whose heap is known.
type point struct {
	*pipeline
	updates []watch.Event // the events of its sample
	next    int           // of the next event to deliver
	heap    int64         // live heap beyond objects and events, in bytes
	gc      collection    // with the informer, the objects and the events
}

// newPoint starts an informer; see side for what indexed means.
func newPoint(tb testing.TB, s side, indexed bool, of *sample, handlers int) *point {
	p := &point{pipeline: newPipeline(tb, s, indexed, of.list, handlers), updates: of.events}
	heap, gc := collect()
	p.heap, p.gc = heap-of.heap, gc
	return p
}

// benchmarkPoint runs one side of a point, in as many rounds as it takes, on one
// informer.
func benchmarkPoint(b *testing.B, name string, start func() *point, measure func(*point, *testing.B)) {
	var p *point
	b.Run(name, func(round *testing.B) {
		if p == nil {
			p = start()
		}
		measure(p, round)
	})
	if p != nil {
		p.stop()
	}
}

// measure times b.N operations. The next round continues with the event after them.
func (p *point) measure(b *testing.B) {
	p.time(b, func() int {
		p.deliverNext(b.N)
		return b.N
	})
}

// time reports the metrics of all curves. Deliver returns the number of operations.
func (p *point) time(b *testing.B, deliver func() int) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.ResetTimer()
	operations := float64(deliver())
	b.StopTimer()
	runtime.ReadMemStats(&after)
	bytes := float64(after.TotalAlloc-before.TotalAlloc) / operations
	b.ReportMetric(float64(b.Elapsed())/operations, "ns/op")
	b.ReportMetric(bytes, "B/op")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/operations, "allocs/op")
	b.ReportMetric(p.gc.share(bytes), "gc-ns/op")
	b.ReportMetric(float64(p.heap), "heap-B")
}

// deliverNext delivers n events, beginning with the one after those that it
// delivered before.
func (p *point) deliverNext(n int) {
	round := len(p.updates) / 2
	p.deliver(p.updates[p.next:p.next+round], n)
	p.next = (p.next + n) % round
}
