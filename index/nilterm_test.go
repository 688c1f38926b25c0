package index_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

func TestIntersectNilTerm(t *testing.T) {
	store, node := index.NewIndexer[*pod](), byNode()
	require.NoError(t, store.AddIndexes(node))
	store.Apply(nil, put(&pod{name: "a", node: "n1"}), "1")
	require.Len(t, slices.Collect(index.Intersect(node.Is("n1"))), 1)
	for _, terms := range [][]index.Term[*pod]{{nil}, {nil, node.Is("n1")}, {node.Is("n1"), nil}} {
		assert.Empty(t, slices.Collect(index.Intersect(terms...)))
		assert.Empty(t, slices.Collect(store.Snapshot().Intersect(terms...)))
	}
}
