package heapsize

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/internal/test/pods"
)

// heapOf returns the result of make, and the memory that it takes.
func heapOf[R any](make func() R) (R, int64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	made := make()
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return made, int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// TestPodsWeighAsMeasuredOnTheHeap compares with what the garbage collector has counted.
func TestPodsWeighAsMeasuredOnTheHeap(t *testing.T) {
	const n = 2000
	all, heap := heapOf(func() []*corev1.Pod {
		all := make([]*corev1.Pod, n)
		for i := range all {
			all[i] = (pods.Cluster{Namespaces: []string{"a", "b"}, Nodes: 20}).Pod(i, 1).DeepCopy()
		}
		return all
	})
	s := NewScale()
	for _, pod := range all {
		s.Add(pod)
	}
	assert.Equal(t, n, s.Added())
	assert.InEpsilon(t, heap, s.Bytes(), 0.1)
	runtime.KeepAlive(all)
}

func TestSharedMemoryCountsOnce(t *testing.T) {
	type part [100]byte
	type object struct {
		part *part
		name string
		list []int64
		m    map[string]int32
		any  any
		self *object
	}
	shared := &part{}
	a := &object{part: shared, name: "0123456789", list: make([]int64, 2, 4), m: map[string]int32{"k": 1}, any: int64(7)}
	a.self = a
	s := NewScale()
	s.Add(a)
	one := s.Bytes()
	const structs, text, list, entries, boxed = 80 + 112, 16, 32, 208 + 8, 8
	assert.EqualValues(t, structs+text+list+mapHeader+entries+boxed, one)
	s.Add(a)
	assert.Equal(t, one, s.Bytes(), "it was counted")
	s.Add(&object{part: shared})
	assert.Equal(t, one+rounded(80), s.Bytes())
	s.Add(nil)
	assert.Equal(t, 4, s.Added())
}

// BenchmarkScale weighs as many Pods as an informer with a budget does at a time.
func BenchmarkScale(b *testing.B) {
	all := make([]*corev1.Pod, 64)
	for i := range all {
		all[i] = (pods.Cluster{Namespaces: []string{"a", "b"}, Nodes: 20}).Pod(i, 1).DeepCopy()
	}
	b.ReportAllocs()
	for b.Loop() {
		s := NewScale()
		for _, pod := range all {
			s.Add(pod)
		}
	}
}

// common is what many objects refer to.
type common struct{ Text [1 << 16]byte }

func (*common) SharedByObjects() {}

// TestShared: what all objects have in common counts for none.
func TestShared(t *testing.T) {
	scale := NewScale()
	scale.Add(&struct {
		of   *common
		text string
	}{&common{}, "some text"})
	assert.Less(t, scale.Bytes(), int64(100))
}
