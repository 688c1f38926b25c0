package typed_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
)

// TestPanicOfAnIndexFunction: where crashing is disabled, the informer continues without the object
// that an index function panics for.
func TestPanicOfAnIndexFunction(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
	utilruntime.ReallyCrash = false
	reported := 0
	utilruntime.PanicHandlers = []func(context.Context, any){func(context.Context, any) { reported++ }}

	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		rec := r.Record()
		hold := make(chan struct{})
		poisoned := "poison"
		require.NoError(t, r.AddIndexes(index.Single("picky", func(o *rig.Thing) (string, bool) {
			<-hold // so that what follows makes one batch
			if o.Name == poisoned {
				panic("poisoned")
			}
			return o.Name, true
		})))
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("poison", 1)}, "1")
		close(hold)
		assert.Equal(t, []string{"initial a@1"}, rec.Next(), "without the one, the informer syncs")
		assert.NoError(t, r.WaitForSync(t.Context()))
		assert.ErrorContains(t, r.Rejected(rig.Key("poison")), "an index function, or a method of the object, has panicked: poisoned")
		assert.Equal(t, "1", r.Rejected(rig.Key("poison")).ResourceVersion)
		assert.Positive(t, reported)

		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 2)}, "2")
		assert.Equal(t, []string{"update a@1 a@2"}, rec.Next())
		assert.Zero(t, r.Status().RejectedNow, "it is not there any more")
		hold = make(chan struct{})
		sinktest.Put(r.Sink, rig.At("a", 3), "3")
		synctest.Wait() // it is being applied
		sinktest.Put(r.Sink, rig.At("poison", 4), "4")
		sinktest.Put(r.Sink, rig.At("b", 5), "5")
		sinktest.Put(r.Sink, rig.At("poison", 6), "6")
		close(hold)
		assert.Equal(t, []string{"update a@2 a@3", "add b@5"}, rec.Next(), "the others are not lost")
		assert.Equal(t, 2, r.Len())
		assert.Equal(t, "6", r.ResourceVersion())
		assert.Equal(t, "6", r.Rejected(rig.Key("poison")).ResourceVersion)
		assert.NoError(t, r.Status().Err)

		poisoned = "b"
		sinktest.Put(r.Sink, rig.At("poison", 7), "7")
		assert.Equal(t, []string{"add poison@7"}, rec.Next())
		assert.Zero(t, r.Status().RejectedNow)
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("poison", 7), rig.At("b", 8)}, "8")
		assert.Empty(t, rec.Next(), "the state that the store has cannot be stored either: nothing is taken up")
		assert.ErrorContains(t, r.Status().Err, "the list was not stored")
		assert.Equal(t, 1, r.Status().Relists, "so it does not count")
		poisoned = "c"
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("b", 9), rig.At("c", 9)}, "9")
		assert.Equal(t, []string{"delete a@3 Relisted", "delete poison@7 Relisted", "update b@5 b@9"}, rec.Next())
		assert.Equal(t, 2, r.Status().Relists, "without the one object, it counts once")
	})
}

// TestStepIsWholeWithoutAnObject: where an index function panics for one object of a step, readers
// and followers see the rest of the step as a whole.
func TestStepIsWholeWithoutAnObject(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
	utilruntime.ReallyCrash = false
	reported := 0
	utilruntime.PanicHandlers = []func(context.Context, any){func(context.Context, any) { reported++ }}

	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		has := func(name string) bool { _, ok := r.Get(rig.Key(name)); return ok }
		parts := 0
		require.NoError(t, r.AddIndexes(index.Single("picky", func(o *rig.Thing) (string, bool) {
			if has("a") != has("b") {
				parts++
			}
			if o.Node == "x" {
				panic("poisoned")
			}
			return o.Name, true
		})))
		rec := r.Record()
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "1")
		put := func(objs ...*rig.Thing) {
			changes := make([]index.Change[*rig.Thing], len(objs))
			for n, obj := range objs {
				changes[n].Object = obj
			}
			r.Sink.Step(changes, objs[0].GetResourceVersion(), nil)
		}
		put(rig.At("a", 2), rig.On("x", rig.At("c", 2)), rig.On("x", rig.At("d", 2)), rig.At("b", 2))
		assert.Equal(t, []string{"add a@2", "add b@2"}, rec.Next())
		assert.Zero(t, parts)
		assert.Equal(t, "2", r.ResourceVersion())
		assert.Equal(t, 2, r.Status().Rejected)
		assert.Equal(t, 2, reported)
		put(rig.On("x", rig.At("c", 3)), rig.At("c", 3), rig.At("d", 3), rig.On("x", rig.At("d", 3)))
		assert.Equal(t, []string{"add c@3", "add d@3"}, rec.Next())
		assert.Nil(t, r.Rejected(rig.Key("c")), "a later state can be used")
		assert.NotNil(t, r.Rejected(rig.Key("d")), "a later state cannot")
	})
}

// TestPanicsForAllOfTheFirstList: as any informer that could use nothing of it, it is
// not synced.
func TestPanicsForAllOfTheFirstList(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil

	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		rec := r.Record()
		require.NoError(t, r.AddIndexes(index.Single("picky", func(o *rig.Thing) (string, bool) {
			if o.Version == 1 {
				panic("poisoned")
			}
			return o.Name, true
		})))
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 1)}, "1")
		assert.Empty(t, rec.Next())
		assert.False(t, rig.IsClosed(r.Synced()))
		assert.ErrorContains(t, r.Status().Err, "all 2 objects of the first list were rejected, such as: ")
		sinktest.Put(r.Sink, rig.At("c", 2), "2")
		assert.Equal(t, []string{"add c@2"}, rec.Next())
		assert.NoError(t, r.WaitForSync(t.Context()))
		assert.True(t, rig.IsClosed(rec.Synced()))
		assert.NoError(t, r.Status().Err)
		assert.Equal(t, 2, r.Status().RejectedNow)
		sinktest.Put(r.Sink, rig.At("a", 1), "3")
		sinktest.Put(r.Sink, rig.At("b", 2), "4")
		assert.Equal(t, []string{"add b@2"}, rec.Next())
		assert.Equal(t, 1, r.Status().RejectedNow)
		sinktest.Put(r.Sink, rig.At("c", 1), "5")
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("c", 1), rig.At("b", 2)}, "6")
		assert.Equal(t, []string{"resync c@2", "update b@2 b@2"}, rec.Next(), "c is as it was")
		assert.Equal(t, "1", r.Rejected(rig.Key("c")).ResourceVersion)
	})
}
