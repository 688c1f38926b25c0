package typed_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

func put(objs ...*thing) []index.Change[*thing] {
	changes := make([]index.Change[*thing], len(objs))
	for i, obj := range objs {
		changes[i] = index.Change[*thing]{Object: obj}
	}
	return changes
}

// TestIndexerOfTheCaller writes to the store of an informer before it is
// started, and while it runs.
func TestIndexerOfTheCaller(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := index.NewIndexer[*thing]()
		store.Apply(nil, put(at("a", 1), at("b", 1)), "1")
		r := newRig(t, typed.WithIndexer(store))
		early := r.handle()
		assert.Equal(t, 2, r.Len(), "it can be read before it runs")
		r.run()
		assert.Empty(t, early.next(), "handlers are told of what changes")
		late := r.handle()
		assert.ElementsMatch(t, []string{"initial a@1", "initial b@1"}, late.next())

		r.sink.Replace([]*thing{at("a", 2), at("c", 2)}, "2")
		compared := []string{"delete b@1 Initial", "update a@1 a@2", "initial c@2"}
		assert.Equal(t, compared, early.next())
		assert.Equal(t, compared, late.next())

		store.Apply(nil, put(at("d", 3)), "")
		_, ok := r.Get(key("d"))
		assert.True(t, ok)
		assert.Empty(t, early.next(), "the caller's writes are no events")
		r.sink.Add(at("d", 4), "4")
		assert.Equal(t, []string{"update d@3 d@4"}, early.next())
	})
}

func TestIndexerOfTheCallerThatCannotBeUsed(t *testing.T) {
	for name, opts := range map[string][]typed.Option{
		"the indexer is nil":                 {typed.WithIndexer[*thing](nil)},
		"objects are of type *typed":         {typed.WithIndexer(index.NewIndexer[bare]())},
		"cannot be used with WithIndexer":    {typed.WithIndexer(index.NewIndexer[*thing]()), typed.WithRecreation()},
		"and WithChangedOnly cannot be used": {typed.WithChangedOnly(), typed.WithIndexer(index.NewIndexer[*thing]())},
		"the metrics are nil":                {typed.WithMetrics(nil)},
	} {
		_, err := typed.NewInformer(newScript(), opts...).Handle(&recorder{})
		require.ErrorContains(t, err, name)
	}
}
