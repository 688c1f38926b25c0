package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
)

// nodeChanged is a predicate of the tests.
func nodeChanged(old, updated *rig.Thing) bool { return old.Node != updated.Node }

func TestFilterUpdates(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		rec, resynced := &rig.Recorder{}, &rig.Recorder{}
		_, err := r.Handle(control.FilterUpdates(rec, nodeChanged, control.ResourceVersionChanged), typed.WithResync(time.Minute))
		require.NoError(t, err)
		_, err = r.Handle(control.FilterUpdates(resynced, control.Or(nodeChanged, control.Resynced)), typed.WithResync(time.Minute))
		require.NoError(t, err)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.On("x", rig.At("a", 1)), rig.On("x", rig.At("b", 2))}, "2")
		assert.ElementsMatch(t, []string{"initial a@1", "initial b@2"}, rec.Next())
		resynced.Next()
		sinktest.Put(r.Sink, rig.On("x", rig.At("c", 3)), "3")
		sinktest.Put(r.Sink, rig.On("x", rig.At("a", 4)), "4")
		sinktest.Put(r.Sink, rig.On("y", rig.At("a", 5)), "5")
		sinktest.Put(r.Sink, rig.On("z", rig.At("a", 5)), "5")
		sinktest.Delete(r.Sink, rig.On("x", rig.At("b", 6)), "6")
		assert.Equal(t, []string{"add c@3", "update a@4 a@5", "delete b@6 Watched"}, rec.Next(), "both have to hold")
		assert.Equal(t, []string{"add c@3", "update a@4 a@5", "update a@5 a@5", "delete b@6 Watched"}, resynced.Next(), "one has to hold")

		recreated := rig.On("z", rig.At("a", 5))
		recreated.UID = "another"
		sinktest.Put(r.Sink, recreated, "7")
		assert.Equal(t, []string{"update a@5 a@5"}, rec.Next(), "another object of that name")
		resynced.Next()

		time.Sleep(90 * time.Second)
		assert.Empty(t, rec.Next(), "a resync changes nothing")
		assert.ElementsMatch(t, []string{"resync a@5", "resync c@3"}, resynced.Next())
	})
}

func TestFilterUpdatesWithoutPredicates(t *testing.T) {
	rec := &rig.Recorder{}
	control.FilterUpdates[*rig.Thing](rec).OnUpdate(rig.At("a", 1), rig.At("a", 1))
	assert.Equal(t, []string{"update a@1 a@1"}, rec.All())
}

func TestFilterUpdatesChecksItsArguments(t *testing.T) {
	r := rig.New(t)
	for want, h := range map[string]typed.Handler[*rig.Thing]{
		"handler is nil":     control.FilterUpdates[*rig.Thing](nil, nodeChanged),
		"predicate is nil":   control.FilterUpdates(&rig.Recorder{}, nodeChanged, nil),
		"cate is nil":        control.FilterUpdates(&rig.Recorder{}, control.Or(nodeChanged, nil)),
		"selection function": control.FilterUpdates(control.Filter[*rig.Thing](&rig.Recorder{}, nil), nodeChanged),
	} {
		_, err := r.Handle(h)
		assert.ErrorContains(t, err, want)
	}
	reg, err := r.Handle(control.FilterUpdates(control.Enqueue[*rig.Thing](&adds[index.Key]{}), nodeChanged))
	require.NoError(t, err)
	assert.Equal(t, "enqueue", reg.Name())
}
