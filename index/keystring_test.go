package index_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

// TestKeyStrings reads stores by strings, and finds the same with the option and
// without.
func TestKeyStrings(t *testing.T) {
	for _, opts := range [][]index.Option[*pod]{nil, {index.WithKeyStrings[*pod]()}} {
		store := index.NewIndexer(opts...)
		require.NoError(t, store.AddIndexes(index.Labels[*pod]("app")))
		long := strings.Repeat("long", 80)
		m := model{}
		for i := range 700 {
			p := &pod{namespace: fmt.Sprint("ns", i%3), name: fmt.Sprint("p", i)}
			m[index.KeyOf(p)] = p
		}
		for _, p := range []*pod{{name: "node"}, {namespace: "default", name: "p"}, {namespace: long, name: long}} {
			m[index.KeyOf(p)] = p
		}
		store.Apply(nil, put(slices.Collect(maps.Values(m))...), "1")
		removed := m[index.Key{Namespace: "ns1", Name: "p1"}]
		store.Apply(nil, remove(removed), "2")
		delete(m, index.KeyOf(removed))

		check(t, m, store)
		check(t, m, store.Snapshot())
		var texts []string
		for key, p := range m {
			got, ok := store.GetByKeyString(key.String())
			require.True(t, ok)
			require.Same(t, p, got)
			texts = append(texts, key.String())
		}
		assert.ElementsMatch(t, texts, store.KeyStrings())
		for _, key := range []string{"", "q", "default", "default/", "/p", "ns1/p1", "default/p/p", long} {
			_, ok := store.GetByKeyString(key)
			assert.False(t, ok, key)
		}
		if !raceEnabled {
			assert.Zero(t, testing.AllocsPerRun(20, func() { store.GetByKeyString("ns2/p2") }))
			assert.Zero(t, testing.AllocsPerRun(20, func() { store.Get(index.Key{Namespace: "ns2", Name: "p2"}) }))
			assert.LessOrEqual(t, testing.AllocsPerRun(20, func() { store.KeyStrings() }), 1.0, "the slice")
		}
	}
}

func TestChunks(t *testing.T) {
	store := newStore(t, nil)
	var objs []*pod
	for i := range 2500 {
		objs = append(objs, &pod{name: fmt.Sprint(i)})
	}
	store.Replace(nil, objs, "1", index.Initial)
	var got []*pod
	for chunk := range store.Chunks() {
		got = append(got, chunk...)
		_ = append(chunk, &pod{name: "not in the store"})
		store.Apply(nil, remove(store.List()[0]), "") // does not show
	}
	assert.ElementsMatch(t, objs, got)
	store.Replace(nil, nil, "1", index.Initial)
	for range store.Chunks() {
		t.Error("there is nothing left")
	}
}
