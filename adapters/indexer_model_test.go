package adapters_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/index"
)

// TestIndexerModel makes the same random calls to a store of client-go and to ours, and compares
// their results.
func TestIndexerModel(t *testing.T) { rapid.Check(t, testIndexerModel) }

func FuzzIndexerModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(testIndexerModel)) }

func testIndexerModel(t *rapid.T) {
	m := &indexerModel{
		t:      t,
		theirs: cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{"node": nodeOf}),
		ours:   adapters.Indexer(index.NewIndexer[*corev1.Pod]()),
	}
	require.NoError(t, m.ours.AddIndexers(cache.Indexers{"node": nodeOf}))
	t.Repeat(map[string]func(*rapid.T){
		"add":         func(*rapid.T) { pod := m.pod(); m.both(func(s cache.Indexer) error { return s.Add(pod) }) },
		"update":      func(*rapid.T) { pod := m.pod(); m.both(func(s cache.Indexer) error { return s.Update(pod) }) },
		"delete":      func(*rapid.T) { obj := m.deletion(); m.both(func(s cache.Indexer) error { return s.Delete(obj) }) },
		"nothing":     func(*rapid.T) { m.both(func(s cache.Indexer) error { return s.Add("no object") }) },
		"replace":     func(*rapid.T) { m.replace() },
		"transaction": func(*rapid.T) { m.transaction() },
		"bookmark": func(*rapid.T) {
			version := rapid.SampledFrom([]string{"", "7", "8"}).Draw(t, "version")
			m.both(func(s cache.Indexer) error { s.Bookmark(version); return nil })
		},
		"index": func(*rapid.T) {
			m.both(func(s cache.Indexer) error { return s.AddIndexers(cache.Indexers{"labels": labelsOf}) })
		},
		"": func(*rapid.T) { m.check() },
	})
}

func labelsOf(obj any) ([]string, error) {
	var values []string
	for _, value := range obj.(*corev1.Pod).Labels {
		values = append(values, value)
	}
	return values, nil
}

type indexerModel struct {
	t      *rapid.T
	theirs cache.Indexer
	ours   cache.TypedIndexer[*corev1.Pod]
}

func (m *indexerModel) pod() *corev1.Pod {
	value := rapid.SampledFrom([]string{"x", "y", "z"})
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       rapid.SampledFrom([]string{"", "n", "m"}).Draw(m.t, "namespace"),
			Name:            rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(m.t, "name"),
			ResourceVersion: rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(m.t, "version"),
			Labels:          map[string]string{"one": value.Draw(m.t, "one"), "two": value.Draw(m.t, "two")},
		},
		Spec: corev1.PodSpec{NodeName: value.Draw(m.t, "node")},
	}
}

func (m *indexerModel) deletion() any {
	pod := m.pod()
	key, _ := cache.MetaNamespaceKeyFunc(pod)
	return rapid.SampledFrom([]any{pod, cache.ExplicitKey(key), cache.DeletedFinalStateUnknown{Key: key, Obj: pod}}).Draw(m.t, "deletion")
}

func (m *indexerModel) replace() {
	var list []any
	for range rapid.IntRange(0, 6).Draw(m.t, "length") {
		list = append(list, m.pod())
	}
	version := rapid.SampledFrom([]string{"", "5", "6"}).Draw(m.t, "version")
	m.both(func(s cache.Indexer) error { return s.Replace(slices.Clone(list), version) })
}

func (m *indexerModel) transaction() {
	var txns []cache.Transaction
	for range rapid.IntRange(0, 4).Draw(m.t, "length") {
		kind := rapid.SampledFrom([]cache.TransactionType{cache.TransactionTypeAdd, cache.TransactionTypeUpdate, cache.TransactionTypeDelete, "other"}).Draw(m.t, "type")
		var obj any = m.pod()
		if rapid.IntRange(0, 9).Draw(m.t, "odd") == 0 {
			obj = "no object"
		}
		txns = append(txns, cache.Transaction{Type: kind, Object: obj})
	}
	m.both(func(s cache.Indexer) error {
		if err := s.(cache.TransactionStore).Transaction(txns...); err != nil {
			return fmt.Errorf("%v %w", err.SuccessfulIndices, err)
		}
		return nil
	})
}

// both does something to both stores, which have to return the same.
func (m *indexerModel) both(write func(s cache.Indexer) error) {
	theirs, ours := write(m.theirs), write(m.ours)
	if theirs == nil {
		require.NoError(m.t, ours)
		return
	}
	require.EqualError(m.t, ours, theirs.Error())
}

func (m *indexerModel) check() {
	require.ElementsMatch(m.t, m.theirs.List(), m.ours.List())
	require.ElementsMatch(m.t, m.theirs.ListKeys(), m.ours.ListKeys())
	require.Equal(m.t, m.theirs.LastStoreSyncResourceVersion(), m.ours.LastStoreSyncResourceVersion())
	for _, key := range m.theirs.ListKeys() {
		want, _, _ := m.theirs.GetByKey(key)
		got, ok, err := m.ours.GetByKey(key)
		require.True(m.t, ok && err == nil)
		require.Same(m.t, want, got)
	}
	for _, name := range []string{"node", "labels", "none"} {
		m.checkIndex(name)
	}
}

func (m *indexerModel) checkIndex(name string) {
	require.ElementsMatch(m.t, m.theirs.ListIndexFuncValues(name), m.ours.ListIndexFuncValues(name))
	for _, value := range []string{"x", "y", "z", "nobody's"} {
		want, wantErr := m.theirs.ByIndex(name, value)
		got, err := m.ours.ByIndex(name, value)
		require.Equal(m.t, wantErr, err)
		require.ElementsMatch(m.t, want, got)
		typed, err := m.ours.ByTypedIndex(name, value)
		require.Equal(m.t, wantErr, err)
		require.Len(m.t, typed, len(want))
		keys, _ := m.theirs.IndexKeys(name, value)
		ours, _ := m.ours.IndexKeys(name, value)
		require.Equal(m.t, keys, ours)
	}
	pod := m.pod()
	want, wantErr := m.theirs.Index(name, pod)
	got, err := m.ours.Index(name, pod)
	require.Equal(m.t, wantErr, err)
	require.ElementsMatch(m.t, want, got)
	typed, err := m.ours.TypedIndex(name, pod)
	require.Equal(m.t, wantErr, err)
	require.Len(m.t, typed, len(want))
}
