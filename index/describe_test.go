package index_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/index"
)

// TestIndexSizesAndKeys compares the sizes and keys that a snapshot returns for its indexes with
// the results of their functions for its objects.
func TestIndexSizesAndKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := func(p *corev1.Pod) (keys []string) {
			for _, r := range p.Spec.NodeName {
				keys = append(keys, string(r))
			}
			return keys
		}
		length := func(p *corev1.Pod) (int, bool) { return len(p.Spec.NodeName), p.Spec.NodeName != "" }
		x := index.NewIndexer[*corev1.Pod]()
		require.NoError(t, x.AddIndexes(
			index.New("letters", letters), index.Single("length", length), index.NewOrdered("ordered", length)))
		for range rapid.IntRange(0, 40).Draw(t, "writes") {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: rapid.StringMatching("[a-e]").Draw(t, "name")}}
			pod.Spec.NodeName = rapid.StringMatching("[xyz]{0,4}").Draw(t, "node")
			if rapid.IntRange(0, 3).Draw(t, "delete") == 0 {
				x.Apply(nil, []index.Change[*corev1.Pod]{{Delete: true, Object: pod}}, "")
			} else {
				x.Apply(nil, []index.Change[*corev1.Pod]{{Object: pod}}, "")
			}
		}
		s := x.Snapshot()
		counts := []map[string]int{{}, {}, {}}
		for pod := range s.All() {
			want := map[string][]string{}
			if keys := letters(pod); len(keys) > 0 {
				slices.Sort(keys)
				want["letters"] = slices.Compact(keys)
			}
			if n, ok := length(pod); ok {
				want["length"], want["ordered"] = []string{fmt.Sprint(n)}, []string{fmt.Sprint(n)}
			}
			got := s.IndexKeys(index.KeyOf(pod))
			slices.Sort(got["letters"])
			assert.Equal(t, want, got)
			for i, name := range []string{"letters", "length", "ordered"} {
				for _, key := range want[name] {
					counts[i][key]++
				}
			}
		}
		assert.Nil(t, s.IndexKeys(index.Key{Namespace: "ns", Name: "nobody"}))
		var want []index.IndexSize
		for i, name := range []string{"letters", "length", "ordered"} {
			size := index.IndexSize{Name: name, Keys: len(counts[i])}
			for _, n := range counts[i] {
				size.Largest = max(size.Largest, n)
			}
			want = append(want, size)
		}
		assert.Equal(t, want, s.IndexSizes())
	})
}

func TestSlowest(t *testing.T) {
	x := index.NewIndexer[*corev1.Pod]()
	name, took := x.Slowest(&corev1.Pod{})
	assert.Zero(t, name)
	assert.Zero(t, took)
	require.NoError(t, x.AddIndexes(
		index.Single("quick", func(p *corev1.Pod) (string, bool) { return p.Name, true }),
		index.Single("slow", func(p *corev1.Pod) (string, bool) { time.Sleep(5 * time.Millisecond); return p.Name, true })))
	name, took = x.Slowest(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	assert.Equal(t, "slow", name)
	assert.GreaterOrEqual(t, took, 5*time.Millisecond)
	assert.Zero(t, x.Len(), "nothing is stored")
	x.Apply(nil, []index.Change[*corev1.Pod]{{Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "b"}}}}, "")
	assert.Len(t, x.Snapshot().IndexKeys(index.Key{Name: "b"}), 2, "and nothing is left of it")
}
