package typed_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

// TestCutList: what a list that is never completed has said of an object, good or bad,
// ends with it.
func TestCutList(t *testing.T) {
	begin := func(t *testing.T) (*rig.Rig, *rig.Recorder) {
		r := rig.New(t, rejectPoison())
		rec := r.Record()
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 2)}, "2")
		rec.Next()
		return r, rec
	}
	t.Run("a rejected object is gone from the next one", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r, rec := begin(t)
			r.Sink.Stage(poison("a", 3), "3")
			assert.NotNil(t, r.Rejected(rig.Key("a")), "it is told at once")
			sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("b", 2)}, "5")
			assert.Equal(t, []string{"delete a@1 Relisted", "update b@2 b@2"}, rec.Next())
			assert.Zero(t, r.Status().RejectedNow)
		})
	})
	t.Run("so it is in a namespace", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r, rec := begin(t)
			r.Sink.Stage(poison("a", 3), "3")
			sinktest.Replace(r.Sink, "ns", []*rig.Thing{rig.At("b", 2)}, "5")
			assert.Equal(t, []string{"delete a@1 Relisted", "update b@2 b@2"}, rec.Next())
		})
	})
	t.Run("a good state of a rejected object does not come to the store", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r, _ := begin(t)
			sinktest.Put(r.Sink, poison("a", 3), "3")
			r.Sink.Stage(rig.At("a", 4), "4")
			assert.NotNil(t, r.Rejected(rig.Key("a")), "what reads return is still behind")
			sinktest.ReplacePart(r.Sink, sinktest.StageAll(r.Sink, rig.At("a", 4)), nil, index.Relisted, "5")
			assert.Nil(t, r.Rejected(rig.Key("a")))
		})
	})
	t.Run("before the first list", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t, rejectPoison())
			r.Start()
			r.Sink.Stage(poison("a", 3), "3")
			sinktest.Replace(r.Sink, "", nil, "5")
			synctest.Wait()
			assert.True(t, rig.IsClosed(r.Synced()), "the server has no objects")
			assert.Zero(t, r.Status().RejectedNow)
		})
	})
	t.Run("after a first list that was rejected", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t, rejectPoison())
			r.Start()
			sinktest.Replace(r.Sink, "", []*rig.Thing{poison("a", 3)}, "3")
			r.Sink.Stage(poison("b", 4), "4")
			sinktest.Replace(r.Sink, "", nil, "5")
			synctest.Wait()
			assert.True(t, rig.IsClosed(r.Synced()))
		})
	})
}

// TestListWithOneKeyTwice: an object that a list has in a state that can be used and in one
// that cannot is there, and not rejected.
func TestListWithOneKeyTwice(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, rejectPoison())
		rec := r.Record()
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 2), poison("a", 1)}, "2")
		assert.Equal(t, []string{"initial a@2"}, rec.Next())
		assert.Zero(t, r.Status().RejectedNow)
	})
}

// TestRejectedByAnIndexFunctionAndGone: objects for which an index function panics are
// forgotten with the first list that does not have them, and an informer that could not sync
// because of them does when they are deleted.
func TestRejectedByAnIndexFunctionAndGone(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil
	begin := func(t *testing.T) *rig.Rig {
		r := rig.New(t)
		require.NoError(t, r.AddIndexes(index.Single("node", func(o *rig.Thing) (string, bool) {
			if o.Node == "poison" {
				panic("poison")
			}
			return o.Node, true
		})))
		r.Start()
		return r
	}
	t.Run("listed", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r := begin(t)
			sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), poison("b", 2)}, "2")
			synctest.Wait()
			assert.Equal(t, 1, r.Status().RejectedNow)
			sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "3")
			synctest.Wait()
			assert.Zero(t, r.Status().RejectedNow)
		})
	})
	t.Run("withheld", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r := begin(t)
			sinktest.Replace(r.Sink, "", []*rig.Thing{poison("b", 2)}, "2")
			synctest.Wait()
			assert.False(t, rig.IsClosed(r.Synced()))
			sinktest.Remove(r.Sink, rig.Key("b"), index.Watched, "3")
			synctest.Wait()
			assert.True(t, rig.IsClosed(r.Synced()))
			assert.NoError(t, r.Status().Err)
		})
	})
}

// TestStandingRejection is taken back by who has made it alone, and leaves with its namespace.
func TestStandingRejection(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, rejectPoison())
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "1")
		stand := func(err error) { r.Sink.Report(&source.RejectedError{Key: rig.Key("a"), Stands: true, Err: err}) }
		stand(errBroken)
		sinktest.Put(r.Sink, rig.At("a", 2), "2")
		sinktest.Put(r.Sink, poison("a", 3), "3")
		assert.ErrorIs(t, r.Rejected(rig.Key("a")), errPoison)
		sinktest.Put(r.Sink, rig.At("a", 4), "4")
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 4)}, "5")
		assert.ErrorIs(t, r.Rejected(rig.Key("a")), errBroken, "it is another object of the key")
		assert.Equal(t, 1, r.Status().RejectedNow)
		stand(nil)
		assert.Nil(t, r.Rejected(rig.Key("a")))
		stand(errBroken)
		sinktest.RemoveNamespace(r.Sink, "ns", "6")
		assert.Nil(t, r.Rejected(rig.Key("a")))
	})
}

var errBroken = fmt.Errorf("broken")

// TestRejectedObjectsAreLoggedAside: a source that rejects objects does not wait for their reports,
// each is reported, and Run ends when there are many left.
func TestRejectedObjectsAreLoggedAside(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		hold, told := make(chan struct{}), []string(nil)
		rig.CatchErrors(t, func(err error) {
			<-hold
			told = append(told, err.Error())
		})
		r := rig.New(t, rejectPoison())
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("good", 1)}, "1")
		for n := range 100 {
			sinktest.Put(r.Sink, poison(fmt.Sprint(n), n+2), "")
		}
		sinktest.Put(r.Sink, rig.At("good", 200), "200")
		require.NoError(t, r.WaitForResourceVersion(t.Context(), "200"))
		assert.Equal(t, 100, r.Status().RejectedNow, "nobody waits")
		for range 50 {
			hold <- struct{}{}
		}
		synctest.Wait()
		assert.Len(t, told, 50)
		r.Stop()
		synctest.Wait()
		close(hold)
		synctest.Wait()
		assert.Len(t, told, 52)
		assert.Contains(t, told[51], "49 objects")
	})
}

// TestRejectedObjectsAreBoundedThatWait: a source waits while too many reports are pending.
func TestRejectedObjectsAreBoundedThatWait(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		hold := make(chan struct{})
		rig.CatchErrors(t, func(error) { <-hold })
		r := rig.New(t, rejectPoison())
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "1")
		const most = 8192
		go func() {
			for n := range most + 10 {
				sinktest.Put(r.Sink, poison(fmt.Sprint(n), n+2), "")
			}
		}()
		synctest.Wait()
		assert.Equal(t, most+2, r.Status().Rejected, "one is being told, and one waits for room")
		close(hold)
		synctest.Wait()
		assert.Equal(t, most+10, r.Status().Rejected)
	})
}

// TestFollowersOfAWithheldList receive the reason for which there is no list, and the list when it
// comes, early and late ones.
func TestFollowersOfAWithheldList(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, rejectPoison())
		r.Start()
		early, late := &followed{}, &followed{}
		_, err := r.Follow(early)
		require.NoError(t, err)
		sinktest.Replace(r.Sink, "", []*rig.Thing{poison("a", 1)}, "1")
		synctest.Wait()
		_, err = r.Follow(late)
		require.NoError(t, err)
		for _, f := range []*followed{early, late} {
			assert.Contains(t, fmt.Sprint(f.next()), "report all 1 objects of the first list were rejected")
		}
		sinktest.Put(r.Sink, rig.At("b", 2), "2")
		for _, f := range []*followed{early, late} {
			assert.Equal(t, []string{"report <nil>", `step Added b@2 at "2"`, "synced"}, f.next())
		}
	})
}

// TestRejectedByAnIndexFunctionAndThenByATransform: an informer whose first list an index function has
// rejected as a whole is not synced when the source, or a transform, rejects all objects of the
// next one, or of later changes, and is when they are gone.
func TestRejectedByAnIndexFunctionAndThenByATransform(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil
	for name, reject := range map[string]func(r *rig.Rig, done func()){
		"listed":  func(r *rig.Rig, done func()) { r.Sink.Replace(listOf(r, done, poison("a", 2)), "2") },
		"changed": func(r *rig.Rig, done func()) { sinktest.Put(r.Sink, poison("a", 2), "2") },
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				r := rig.New(t, rejectPoison())
				require.NoError(t, r.AddIndexes(index.Single("node", func(*rig.Thing) (string, bool) { panic("broken") })))
				rec := r.Record()
				r.Start()
				calls := 0
				done := func() { calls++ }
				r.Sink.Replace(listOf(r, done, rig.At("a", 1)), "1")
				synctest.Wait()
				assert.False(t, rig.IsClosed(r.Synced()))

				reject(r, done)
				synctest.Wait()
				assert.False(t, rig.IsClosed(r.Synced()))
				assert.ErrorContains(t, r.Status().Err, "all 1 objects of the first list were rejected")
				assert.Zero(t, calls)

				sinktest.Remove(r.Sink, rig.Key("b"), index.Watched, "3")
				synctest.Wait()
				assert.False(t, rig.IsClosed(r.Synced()), "another object is gone")
				sinktest.Delete(r.Sink, rig.At("a", 4), "4")
				synctest.Wait()
				assert.True(t, rig.IsClosed(r.Synced()))
				assert.NoError(t, r.Status().Err)
				assert.Positive(t, calls)
				assert.Empty(t, rec.Next())
				assert.True(t, rig.IsClosed(rec.Synced()))
			})
		})
	}
}

// listOf returns a list, of which done is called when it is stored.
func listOf(r *rig.Rig, done func(), objs ...*rig.Thing) source.List {
	return source.List{Items: sinktest.StageAll(r.Sink, objs...), Done: done}
}
