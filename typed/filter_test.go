package typed_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// nodeChanged is a predicate of the tests.
func nodeChanged(old, updated *thing) bool { return old.node != updated.node }

func TestFilter(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		rec, resynced := &recorder{}, &recorder{}
		_, err := r.Handle(typed.Filter(rec, nodeChanged, typed.ResourceVersionChanged), typed.WithResync(time.Minute))
		require.NoError(t, err)
		_, err = r.Handle(typed.Filter(resynced, typed.Or(nodeChanged, typed.Resynced)), typed.WithResync(time.Minute))
		require.NoError(t, err)
		r.run()
		r.sink.Replace([]*thing{on("x", at("a", 1)), on("x", at("b", 2))}, "2")
		assert.ElementsMatch(t, []string{"initial a@1", "initial b@2"}, rec.next())
		resynced.next()
		r.sink.Add(on("x", at("c", 3)), "3")
		r.sink.Update(on("x", at("a", 4)), "4")
		r.sink.Update(on("y", at("a", 5)), "5")
		r.sink.Update(on("z", at("a", 5)), "5")
		r.sink.Delete(on("x", at("b", 6)), "6")
		assert.Equal(t, []string{"add c@3", "update a@4 a@5", "delete b@6 Watched"}, rec.next(), "both have to hold")
		assert.Equal(t, []string{"add c@3", "update a@4 a@5", "update a@5 a@5", "delete b@6 Watched"}, resynced.next(), "one has to hold")

		recreated := on("z", at("a", 5))
		recreated.uid = "another"
		r.sink.Update(recreated, "7")
		assert.Equal(t, []string{"update a@5 a@5"}, rec.next(), "another object of that name")
		resynced.next()

		time.Sleep(90 * time.Second)
		assert.Empty(t, rec.next(), "a resync changes nothing")
		assert.ElementsMatch(t, []string{"resync a@5", "resync c@3"}, resynced.next())
	})
}

func TestFilterWithoutPredicates(t *testing.T) {
	rec := &recorder{}
	typed.Filter[*thing](rec).OnUpdate(at("a", 1), at("a", 1))
	assert.Equal(t, []string{"update a@1 a@1"}, rec.all())
}

func TestFilterChecksItsArguments(t *testing.T) {
	r := newRig(t)
	for want, h := range map[string]typed.Handler[*thing]{
		"the handler is nil": typed.Filter[*thing](nil, nodeChanged),
		"predicate is nil":   typed.Filter(&recorder{}, nodeChanged, nil),
		"a predicate is nil": typed.Filter(&recorder{}, typed.Or(nodeChanged, nil)),
		"function that sele": typed.Filter(typed.Select[*thing](&recorder{}, nil), nodeChanged),
	} {
		_, err := r.Handle(h)
		assert.ErrorContains(t, err, want)
	}
	reg, err := r.Handle(typed.Filter(typed.Enqueue[*thing](&adds[index.Key]{}), nodeChanged))
	require.NoError(t, err)
	assert.Equal(t, "enqueue", reg.Name())
}
