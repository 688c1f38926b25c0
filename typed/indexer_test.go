package typed_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/observe"
)

func put(objs ...*rig.Thing) []index.Change[*rig.Thing] {
	changes := make([]index.Change[*rig.Thing], len(objs))
	for i, obj := range objs {
		changes[i] = index.Change[*rig.Thing]{Object: obj}
	}
	return changes
}

// TestIndexerOfTheCaller writes to the store of an informer before it is
// started, and while it runs.
func TestIndexerOfTheCaller(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		store := index.NewIndexer[*rig.Thing]()
		store.Apply(nil, put(rig.At("a", 1), rig.At("b", 1)), "1")
		r := rig.New(t, typed.WithIndexer(store))
		early := r.Record()
		assert.Equal(t, 2, r.Len(), "it can be read before it runs")
		r.Start()
		assert.Empty(t, early.Next(), "handlers are told of what changes")
		late := r.Record()
		assert.ElementsMatch(t, []string{"initial a@1", "initial b@1"}, late.Next())

		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 2), rig.At("c", 2)}, "2")
		compared := []string{"delete b@1 Initial", "update a@1 a@2", "initial c@2"}
		assert.Equal(t, compared, early.Next())
		assert.Equal(t, compared, late.Next())

		store.Apply(nil, put(rig.At("d", 3)), "")
		_, ok := r.Get(rig.Key("d"))
		assert.True(t, ok)
		assert.Empty(t, early.Next(), "the caller's writes are no events")
		sinktest.Put(r.Sink, rig.At("d", 4), "4")
		assert.Equal(t, []string{"update d@3 d@4"}, early.Next())
	})
}

// TestJoinedLiteralDeletion: with Coalesce, a deletion of an object that was not there and the addition of
// that object are an addition, not an update of nothing.
func TestJoinedLiteralDeletion(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithIndexer(index.NewIndexer(index.WithLiteralEvents[*rig.Thing]())))
		rec := r.Record(typed.WithDelivery(typed.Coalesce()))
		r.Start()
		hold := make(chan struct{})
		rec.Before(func(string) { <-hold })
		sinktest.Put(r.Sink, rig.At("a", 1), "1")
		synctest.Wait()
		sinktest.Delete(r.Sink, rig.At("b", 2), "2")
		sinktest.Put(r.Sink, rig.At("b", 3), "3")
		sinktest.Put(r.Sink, rig.At("b", 4), "4")
		synctest.Wait()
		close(hold)
		assert.Equal(t, []string{"add a@1", "add b@4"}, rec.Next())
	})
}

func TestBadIndexerOfTheCaller(t *testing.T) {
	for name, opts := range map[string][]typed.Option{
		"WithIndexer: indexer is nil":        {typed.WithIndexer[*rig.Thing](nil)},
		"objects are of type *rig":           {typed.WithIndexer(index.NewIndexer[rig.Placement]())},
		"cannot be used with WithIndexer":    {typed.WithIndexer(index.NewIndexer[*rig.Thing]()), typed.WithRecreation()},
		"and WithChangedOnly cannot be used": {typed.WithChangedOnly(), typed.WithIndexer(index.NewIndexer[*rig.Thing]())},
		"the metrics are nil":                {observe.WithMetrics(nil)},
	} {
		_, err := typed.NewInformer(rig.NewScript(), opts...).Handle(&rig.Recorder{})
		require.ErrorContains(t, err, name)
	}
}
