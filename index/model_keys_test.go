package index_test

import (
	"maps"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

// part is a key that one object has alone. With hundreds of objects that have several,
// an index has so many keys that it is compacted when they go.
type part struct {
	object index.Key
	number int
}

func partsOf(p *pod) []part {
	if !strings.HasPrefix(p.name, "many") {
		return nil
	}
	parts := make([]part, p.version%6)
	for i := range parts {
		parts[i] = part{index.KeyOf(p), i}
	}
	return parts
}

func byPart() *index.Index[part, *pod] { return index.New("part", partsOf) }

// checkParts compares the look-ups of parts, in s or live, with the model.
func checkParts(t require.TestingT, m model, parts *index.Index[part, *pod], s *index.Snapshot[*pod]) {
	get, keys := parts.Get, parts.ListKeys()
	if s != nil {
		get, keys = parts.In(s).Get, slices.Collect(parts.In(s).Keys())
	}
	var want []part
	for _, p := range m {
		for _, k := range partsOf(p) {
			want = append(want, k)
			got := get(k)
			require.True(t, len(got) == 1 && got[0] == p, "%v has %v", k, got)
		}
	}
	require.Len(t, keys, len(want)) // and so no others, as they are found
	require.Empty(t, get(part{number: 7}))
}

// checkKeyStrings compares everything that can be read by keys as strings with the
// model.
func checkKeyStrings(t require.TestingT, m model, store *index.Indexer[*pod], node *index.Index[string, *pod]) {
	require.Equal(t, sortedKeys(maps.Keys(m)), slices.Sorted(slices.Values(store.KeyStrings())))
	for key, p := range m {
		got, ok := store.GetByKeyString(key.String())
		require.True(t, ok)
		require.Same(t, p, got)
		absent, ok := store.GetByKeyString(key.String() + "0absent")
		require.False(t, ok)
		require.Nil(t, absent)
	}
	for _, n := range nodes {
		filed := maps.Clone(m)
		maps.DeleteFunc(filed, func(_ index.Key, p *pod) bool { return n == "" || p.node != n })
		require.Equal(t, sortedKeys(maps.Keys(filed)), slices.Sorted(slices.Values(node.KeyStrings(n))), "node %s", n)
	}
}
