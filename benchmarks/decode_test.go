package benchmarks

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
)

// How many objects the benchmarks of decoding keep: as many as a list brings, and
// as many as change while they are followed.
const (
	heldPods    = 20_000
	updatedPods = 5_000
)

// perApps are how many Pods an application has: what objects have in common.
var perApps = []int{50, 1, 5, 500}

// decodePoint is what is decoded: a form of Pods of which so many belong to an
// application.
type decodePoint struct {
	decodeForm
	perApp int
}

// eachDecodePoint runs a benchmark for each form and side, for Pods in protobuf
// with all numbers of Pods of an application.
func eachDecodePoint(b *testing.B, run func(b *testing.B, p decodePoint, side func(testing.TB) decoder)) {
	for _, form := range decodeForms() {
		for i, perApp := range perApps {
			if i > 0 && form.name != "pod-protobuf" {
				break
			}
			p := decodePoint{form, perApp}
			for _, s := range []struct {
				name string
				side func(testing.TB) decoder
			}{{"client-go", form.clientGo}, {"typed", form.typed}} {
				b.Run(fmt.Sprintf("form=%s/perapp=%d/impl=%s", form.name, perApp, s.name), func(b *testing.B) { run(b, p, s.side) })
			}
		}
	}
}

// items returns the encoded objects of n Pods in random order.
func (p decodePoint) items(tb testing.TB, n int) [][]byte {
	c, items := cluster.New(n, p.perApp), make([][]byte, n)
	for at, i := range c.Shuffled(0) {
		items[at] = p.encodeItem(tb, c.Whole(i, 1))
	}
	return items
}

// BenchmarkDecodeItem measures decoding an item of a list, from its bytes to an
// object. An operation is one object; they are kept until the list of 20,000 ends,
// and the next one is of a new decoder. client-go is the
// generated code for protobuf, and apimachinery's decoder for JSON.
//
// cpu-ns/op is what this process has used, with the collector.
func BenchmarkDecodeItem(b *testing.B) {
	eachDecodePoint(b, func(b *testing.B, p decodePoint, side func(testing.TB) decoder) {
		items, held := p.items(b, heldPods), make([]any, heldPods)
		var d decoder
		b.ReportAllocs()
		before := cpuTime(b)
		for n := 0; b.Loop(); n++ {
			if n%heldPods == 0 {
				clear(held)
				d = side(b)
			}
			obj, err := d.item(items[n%heldPods])
			if err != nil {
				b.Fatal(err)
			}
			held[n%heldPods] = obj
		}
		b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
		runtime.KeepAlive(held)
	})
}

// BenchmarkDecodeUpdate measures decoding an event of a watch, from its frame to an object. An
// operation is one update of one of 5,000 Pods as a kubelet reports it, a readiness that
// changes, after which the state before it is released. client-go is its decoder of watches. See
// BenchmarkWatchDecode for the steps before it.
func BenchmarkDecodeUpdate(b *testing.B) {
	eachDecodePoint(b, func(b *testing.B, p decodePoint, side func(testing.TB) decoder) {
		d, held := side(b), make([]any, updatedPods)
		for i, item := range p.items(b, updatedPods) {
			var err error
			held[i], err = d.item(item)
			require.NoError(b, err)
		}
		next := d.events(p.updates(b, updatedPods))
		b.ReportAllocs()
		before := cpuTime(b)
		for n := 0; b.Loop(); n++ {
			obj, err := next()
			if err != nil {
				b.Fatal(err)
			}
			held[n%updatedPods] = obj
		}
		b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
		runtime.KeepAlive(held)
	})
}

// updates returns a watch that never ends: of each of n Pods in turn, in the order of items, the
// versions after the first, again and again. A version that comes again equals no object that is
// still held.
func (p decodePoint) updates(tb testing.TB, n int) io.ReadCloser {
	c, frames := cluster.New(n, p.perApp), &bytes.Buffer{}
	for version := 2; version < 2+recordedVersions; version++ {
		for _, i := range c.Shuffled(0) {
			p.encodeEvent(tb, c.Whole(i, version), frames)
		}
	}
	return &endless{all: frames.Bytes()}
}

// endless reads the same bytes again and again.
type endless struct{ all, rest []byte }

func (e *endless) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		e.rest = e.all
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func (e *endless) Close() error { return nil }

// BenchmarkHeld measures what objects are that are kept, 20,000 Pods that were
// decoded as items of a list, with what their decoder keeps: bytes and heap
// objects of each, and how long a whole run of the collector takes, the fastest of
// some. An operation is all of that.
func BenchmarkHeld(b *testing.B) {
	eachDecodePoint(b, func(b *testing.B, p decodePoint, side func(testing.TB) decoder) {
		items := p.items(b, heldPods)
		var bytes, objects, collections float64
		for b.Loop() {
			before := liveStats()
			d, held := side(b), make([]any, len(items))
			for i, item := range items {
				var err error
				if held[i], err = d.item(item); err != nil {
					b.Fatal(err)
				}
			}
			after := liveStats()
			bytes += float64(after.HeapAlloc-before.HeapAlloc) / heldPods
			objects += float64(after.HeapObjects-before.HeapObjects) / heldPods
			collections += float64(collectionTime())
			runtime.KeepAlive(held)
			runtime.KeepAlive(d)
		}
		b.ReportMetric(0, "ns/op") // how long it took to measure
		b.ReportMetric(bytes/float64(b.N), "B/pod")
		b.ReportMetric(objects/float64(b.N), "objects/pod")
		b.ReportMetric(collections/float64(b.N), "gc-ns")
	})
}

// liveStats returns statistics of live objects, without those that are left in pools.
func liveStats() (stats runtime.MemStats) {
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats
}

// collectionTime returns how long a run of the collector takes, the fastest of
// five.
func collectionTime() time.Duration {
	fastest := time.Hour
	for range 5 {
		begin := time.Now()
		runtime.GC()
		fastest = min(fastest, time.Since(begin))
	}
	return fastest
}

// TestSidesDecodeTheSame shows that both sides of the benchmarks of decoding make
// the same of the same bytes, and of the bytes what they were made of.
func TestSidesDecodeTheSame(t *testing.T) {
	const pods = 60
	for _, form := range decodeForms() {
		p := decodePoint{form, 5}
		theirs, ours := form.clientGo(t), form.typed(t)
		for i, item := range p.items(t, pods) {
			their, err := theirs.item(item)
			require.NoError(t, err)
			our, err := ours.item(item)
			require.NoError(t, err)
			if form.keeps != nil {
				their = form.keeps(their)
			}
			require.True(t, equality.Semantic.DeepEqual(their, our), "%s, item %d", form.name, i)
		}
		their, our := theirs.events(p.updates(t, pods)), ours.events(p.updates(t, pods))
		seen := map[string]bool{}
		for range recordedVersions*pods + 1 {
			one, err := their()
			require.NoError(t, err)
			other, err := our()
			require.NoError(t, err)
			forgetKind(one)
			forgetKind(other)
			if form.keeps != nil {
				one = form.keeps(one)
			}
			require.True(t, equality.Semantic.DeepEqual(one, other), form.name)
			seen[other.(interface{ GetResourceVersion() string }).GetResourceVersion()] = true
		}
		assert.Len(t, seen, recordedVersions*pods, "the last begins anew")
	}
}

// TestSizes checks the sizes of Pods in benchmarks/results/performance.md: as items of lists in
// both formats, and of updates as a server sends and compresses them.
func TestSizes(t *testing.T) {
	const pods = 200
	mean := func(encode func(c *cluster.Cluster, i int) int) float64 {
		c, sum := cluster.New(pods, 50), 0
		for i := range pods {
			sum += encode(c, i)
		}
		return float64(sum) / pods
	}
	forms := map[string]decodeForm{}
	for _, form := range decodeForms() {
		forms[form.name] = form
	}
	protobuf, json := forms["pod-protobuf"], forms["pod-json"]
	assert.InEpsilon(t, 5_500, mean(func(c *cluster.Cluster, i int) int { return len(protobuf.encodeItem(t, c.Whole(i, 1))) }), 0.05)
	assert.InEpsilon(t, 8_400, mean(func(c *cluster.Cluster, i int) int { return len(json.encodeItem(t, c.Whole(i, 1))) }), 0.05)
	var plain, compressed bytes.Buffer
	assert.InEpsilon(t, 5_600, mean(func(c *cluster.Cluster, i int) int {
		plain.Reset()
		protobuf.encodeEvent(t, c.Whole(i, 2), &plain)
		return plain.Len()
	}), 0.05)
	assert.InEpsilon(t, 2_500, mean(func(c *cluster.Cluster, i int) int {
		plain.Reset()
		compressed.Reset()
		protobuf.encodeEvent(t, c.Whole(i, 2), &plain)
		zip, err := gzip.NewWriterLevel(&compressed, gzip.BestSpeed) // as kube-apiserver has it
		require.NoError(t, err)
		_, err = zip.Write(plain.Bytes())
		require.NoError(t, errors.Join(err, zip.Close()))
		return compressed.Len()
	}), 0.05)
}

// forgetKind empties the kind of a Pod, which only a scheme sets from protobuf.
func forgetKind(obj any) {
	if pod, ok := obj.(*corev1.Pod); ok {
		pod.TypeMeta = metav1.TypeMeta{}
	}
}
