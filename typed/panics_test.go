package typed_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
)

// TestPanicOfAnIndexFunction goes on, where that is allowed, without the object
// that an index function panics for.
func TestPanicOfAnIndexFunction(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
	utilruntime.ReallyCrash = false
	reported := 0
	utilruntime.PanicHandlers = []func(context.Context, any){func(context.Context, any) { reported++ }}

	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		rec := r.handle()
		hold := make(chan struct{})
		poisoned := "poison"
		require.NoError(t, r.AddIndexes(index.Single("picky", func(o *thing) (string, bool) {
			<-hold // so that what follows makes one batch
			if o.name == poisoned {
				panic("poisoned")
			}
			return o.name, true
		})))
		r.run()
		r.sink.Replace([]*thing{at("a", 1), at("poison", 1)}, "1")
		close(hold)
		assert.Equal(t, []string{"initial a@1"}, rec.next(), "without the one, the informer syncs")
		assert.NoError(t, r.WaitForSync(t.Context()))
		assert.ErrorContains(t, r.Rejected(key("poison")), "an index function, or a method of the object, has panicked: poisoned")
		assert.Equal(t, "1", r.Rejected(key("poison")).ResourceVersion)
		assert.Positive(t, reported)

		r.sink.Replace([]*thing{at("a", 2)}, "2")
		assert.Equal(t, []string{"update a@1 a@2"}, rec.next())
		assert.Zero(t, r.Status().RejectedNow, "it is not there any more")
		hold = make(chan struct{})
		r.sink.Update(at("a", 3), "3")
		synctest.Wait() // it is being applied
		r.sink.Add(at("poison", 4), "4")
		r.sink.Add(at("b", 5), "5")
		r.sink.Add(at("poison", 6), "6")
		close(hold)
		assert.Equal(t, []string{"update a@2 a@3", "add b@5"}, rec.next(), "the others are not lost")
		assert.Equal(t, 2, r.Len())
		assert.Equal(t, "6", r.ResourceVersion())
		assert.Equal(t, "6", r.Rejected(key("poison")).ResourceVersion)
		assert.NoError(t, r.Status().Err)

		poisoned = "b"
		r.sink.Add(at("poison", 7), "7")
		assert.Equal(t, []string{"add poison@7"}, rec.next())
		assert.Zero(t, r.Status().RejectedNow)
		r.sink.Replace([]*thing{at("poison", 7), at("b", 8)}, "8")
		assert.Empty(t, rec.next(), "the state that the store has cannot be stored either: nothing is taken up")
		assert.ErrorContains(t, r.Status().Err, "the list was not stored")
	})
}

// TestPanicsForAllOfTheFirstList: as any informer that could use nothing of it, it is
// not synced.
func TestPanicsForAllOfTheFirstList(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil

	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		rec := r.handle()
		require.NoError(t, r.AddIndexes(index.Single("picky", func(o *thing) (string, bool) {
			if o.version == 1 {
				panic("poisoned")
			}
			return o.name, true
		})))
		r.run()
		r.sink.Replace([]*thing{at("a", 1), at("b", 1)}, "1")
		assert.Empty(t, rec.next())
		assert.False(t, isClosed(r.Synced()))
		assert.ErrorContains(t, r.Status().Err, "all 2 objects of the first list were rejected, such as: ")
		r.sink.Add(at("c", 2), "2")
		assert.Equal(t, []string{"add c@2"}, rec.next())
		assert.NoError(t, r.WaitForSync(t.Context()))
		assert.True(t, isClosed(rec.Synced()))
		assert.NoError(t, r.Status().Err)
		assert.Equal(t, 2, r.Status().RejectedNow)
		r.sink.Add(at("a", 1), "3")
		r.sink.Add(at("b", 2), "4")
		assert.Equal(t, []string{"add b@2"}, rec.next())
		assert.Equal(t, 1, r.Status().RejectedNow)
		r.sink.Update(at("c", 1), "5")
		r.sink.Replace([]*thing{at("c", 1), at("b", 2)}, "6")
		assert.Equal(t, []string{"resync c@2", "update b@2 b@2"}, rec.next(), "c is as it was")
		assert.Equal(t, "1", r.Rejected(key("c")).ResourceVersion)
	})
}
