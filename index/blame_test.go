package index_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

func TestPanics(t *testing.T) {
	store := index.NewIndexer[*pod]()
	picky := index.Single("picky", func(p *pod) (string, bool) {
		if p.name == "poison" {
			panic("poisoned")
		}
		return p.name, true
	})
	require.NoError(t, store.AddIndexes(picky))
	assert.EqualError(t, store.Panics(&pod{name: "poison"}), "poisoned")
	assert.Nil(t, store.Panics(&pod{name: "a"}))
	assert.Error(t, store.Panics(nil), "its methods panic")
	assert.Zero(t, store.Len())
	store.Apply(nil, put(&pod{name: "b"}), "1")
	assert.Len(t, picky.Get("b"), 1, "what was looked at is forgotten")
	assert.Empty(t, picky.Get("a"))

	for _, opt := range []index.Option[*fragile]{
		index.WithRecreated(func(old, updated *fragile) bool { return old.GetUID() != updated.GetUID() }),
		index.WithUnchanged(func(old, updated *fragile) bool { return old.GetUID() == updated.GetUID() }),
	} {
		store := index.NewIndexer(opt)
		objs := fragiles(1, 1, nil)
		store.Replace(nil, objs, "1", index.Initial)
		assert.EqualError(t, store.Panics(&fragile{name: objs[0].name, namespace: "ns"}), "no uid")
		assert.Nil(t, store.Panics(&fragile{name: "new", namespace: "ns"}), "there is nothing to compare it with")
	}
}
