package typed_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

var errPoison = errors.New("poisoned")

// rejectPoison rejects things on the node "poison".
func rejectPoison() typed.Option {
	return typed.WithTransform(func(o *rig.Thing) (*rig.Thing, error) {
		if o.Node == "poison" {
			o.Name = "modified before it failed"
			return nil, errPoison
		}
		return o, nil
	})
}

func poison(name string, version int) *rig.Thing { return rig.On("poison", rig.At(name, version)) }

// TestRejectedDeletion deletes objects whose last state cannot be used.
func TestRejectedDeletion(t *testing.T) {
	for name, test := range map[string]struct {
		source func(*rig.Script) source.Source[*rig.Thing]
		opts   []typed.Option
	}{
		"transform": {func(s *rig.Script) source.Source[*rig.Thing] { return s }, []typed.Option{rejectPoison()}},
		"projection that is nil": {func(s *rig.Script) source.Source[*rig.Thing] {
			return source.Map(s, func(o *rig.Thing) *rig.Thing {
				if o.Node == "poison" {
					return nil
				}
				return o
			})
		}, nil},
		"projection of another key": {func(s *rig.Script) source.Source[*rig.Thing] {
			return source.Map(s, func(o *rig.Thing) *rig.Thing {
				if o.Node == "poison" {
					return rig.At("other", 1)
				}
				return o
			})
		}, nil},
		"in a namespace": {func(s *rig.Script) source.Source[*rig.Thing] {
			return source.FromNamespaces(source.NewNamespaces("ns"), func(string) source.Source[*rig.Thing] { return s })
		}, []typed.Option{rejectPoison()}},
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				s := rig.NewScript()
				r := rig.Over(t, s, test.source(s), test.opts...)
				var deleted []typed.Deleted[*rig.Thing]
				_, err := r.Handle(typed.HandlerFuncs[*rig.Thing]{DeleteFunc: func(d typed.Deleted[*rig.Thing]) { deleted = append(deleted, d) }})
				require.NoError(t, err)
				r.Start()
				known := rig.At("a", 1)
				sinktest.Replace(r.Sink, "", []*rig.Thing{known, rig.At("b", 2)}, "2")
				sinktest.Delete(r.Sink, poison("a", 3), "3")
				synctest.Wait()
				assert.Equal(t, []typed.Deleted[*rig.Thing]{{Key: rig.Key("a"), Object: known, Old: known, Reason: index.Watched}}, deleted)
				assert.Equal(t, 1, r.Len())
				assert.Equal(t, "3", r.ResourceVersion())
				status := r.Status()
				assert.Equal(t, 1, status.Rejected, "it is told")
				assert.Zero(t, status.RejectedNow, "but nothing is missing")
				r.Sink.Report(&source.RejectedError{Key: rig.Key("b"), Err: errPoison})
				sinktest.Remove(r.Sink, rig.Key("b"), index.Watched, "4")
				synctest.Wait()
				assert.Zero(t, r.Len(), "so can a source")
				assert.Zero(t, r.Status().RejectedNow)
				sinktest.Remove(r.Sink, rig.Key("unknown"), index.Watched, "5")
				synctest.Wait()
				assert.Len(t, deleted, 2)
				assert.Equal(t, "5", r.ResourceVersion())
			})
		})
	}
}

// TestRejectedUpdate: the store keeps its state, and the informer reports the rejected one.
func TestRejectedUpdate(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, rejectPoison())
		rec := r.Record()
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 2)}, "2")
		rec.Next()
		assert.Nil(t, r.Rejected(rig.Key("a")))
		sinktest.Put(r.Sink, poison("a", 3), "3")
		sinktest.Bookmark(r.Sink, "4")
		assert.Empty(t, rec.Next())
		assert.Equal(t, "4", r.ResourceVersion(), "the rest goes on")
		assert.Equal(t, 1, mustGet(t, r, "a").Version)
		rejected := r.Rejected(rig.Key("a"))
		require.NotNil(t, rejected)
		assert.ErrorIs(t, rejected, errPoison)
		assert.Equal(t, "3", rejected.ResourceVersion)
		assert.Nil(t, r.Rejected(rig.Key("b")))
		assert.Equal(t, []*source.RejectedError{rejected}, r.Status().RejectedObjects)

		sinktest.Replace(r.Sink, "", []*rig.Thing{poison("a", 3), rig.At("b", 2)}, "5")
		assert.Equal(t, []string{"update b@2 b@2", "resync a@1"}, rec.Next(), "a list that it is in does not delete it")
		assert.Equal(t, 1, r.Status().RejectedNow)
		assert.True(t, r.Rejected(rig.Key("a")).Listed)
		sinktest.Put(r.Sink, rig.At("a", 6), "6")
		assert.Equal(t, []string{"update a@1 a@6"}, rec.Next())
		assert.Nil(t, r.Rejected(rig.Key("a")))
		assert.Zero(t, r.Status().RejectedNow)
		assert.Equal(t, 2, r.Status().Rejected)

		sinktest.Put(r.Sink, poison("b", 7), "7")
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 6)}, "8")
		assert.Equal(t, []string{"delete b@2 Relisted", "update a@6 a@6"}, rec.Next(), "a list that it is not in does")
		assert.Zero(t, r.Status().RejectedNow)

		sinktest.Put(r.Sink, poison("a", 9), "9")
		sinktest.Put(r.Sink, poison("c", 10), "10")
		sinktest.Replace(r.Sink, "elsewhere", nil, "11")
		synctest.Wait()
		assert.Equal(t, 2, r.Status().RejectedNow)
		sinktest.Replace(r.Sink, "ns", []*rig.Thing{poison("a", 9)}, "12")
		assert.Equal(t, []string{"resync a@6"}, rec.Next())
		assert.Equal(t, 1, r.Status().RejectedNow)
		sinktest.RemoveNamespace(r.Sink, "ns", "13")
		assert.Equal(t, []string{"delete a@6 OutOfScope"}, rec.Next())
		assert.Zero(t, r.Status().RejectedNow)
	})
}

// TestRejectedBesideAnotherUID: a change that counts only for the object of a UID, which the store
// does not have, takes back no rejection, or else "not found" would be silently wrong.
func TestRejectedBesideAnotherUID(t *testing.T) {
	uid := rig.At("a", 1).UID
	for name, change := range map[string]index.Change[*rig.Thing]{
		"state":    {Object: rig.At("a", 3), UID: &uid},
		"deletion": {Delete: true, Object: rig.At("a", 3), UID: &uid},
	} {
		for how, report := range map[string]func(s source.Sink[*rig.Thing]){
			"alone":     func(s source.Sink[*rig.Thing]) { s.Change(change, "") },
			"in a step": func(s source.Sink[*rig.Thing]) { s.Step([]index.Change[*rig.Thing]{change}, "", nil) },
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				rig.InBubble(t, func(t *testing.T) {
					r := rig.New(t, rejectPoison())
					r.Start()
					sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("b", 1)}, "1")
					sinktest.Put(r.Sink, poison("a", 2), "2")
					report(r.Sink)
					synctest.Wait()
					_, found := r.Get(rig.Key("a"))
					require.False(t, found)
					assert.NotNil(t, r.Rejected(rig.Key("a")))
					sinktest.Put(r.Sink, rig.At("a", 4), "4")
					synctest.Wait()
					assert.Nil(t, r.Rejected(rig.Key("a")))
				})
			})
		}
	}
}

// TestRejectedObjectsAreBounded checks the order and the number of rejected objects in Status.
func TestRejectedObjectsAreBounded(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, rejectPoison())
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "1")
		for i := range 30 {
			sinktest.Put(r.Sink, poison(fmt.Sprint("n", i), i+2), fmt.Sprint(i+2))
		}
		sinktest.Put(r.Sink, poison("n12", 40), "40")
		synctest.Wait()
		status := r.Status()
		assert.Equal(t, 30, status.RejectedNow)
		assert.Equal(t, 31, status.Rejected)
		require.Len(t, status.RejectedObjects, 20)
		assert.Equal(t, rig.Key("n12"), status.RejectedObjects[0].Key)
		assert.Equal(t, rig.Key("n29"), status.RejectedObjects[1].Key)
		assert.Equal(t, rig.Key("n10"), status.RejectedObjects[19].Key)
		assert.Equal(t, "40", r.Rejected(rig.Key("n12")).ResourceVersion)
		assert.NotNil(t, r.Rejected(rig.Key("n0")), "of which Status does not tell any more")
	})
}

// TestRejectedFirstList: an informer is not synced if it was sent objects
// and could use none.
func TestRejectedFirstList(t *testing.T) {
	rejected := func(t *testing.T, opts ...typed.Option) (*rig.Rig, *rig.Recorder) {
		r := rig.New(t, append(opts, rejectPoison())...)
		rec := r.Record()
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{poison("a", 1), poison("b", 2)}, "2")
		r.Sink.Report(nil) // the watch was opened
		sinktest.Bookmark(r.Sink, "3")
		synctest.Wait()
		assert.False(t, rig.IsClosed(r.Synced()))
		assert.Empty(t, r.ResourceVersion())
		assert.Equal(t, report.PhaseSyncing, r.Status().Phase)
		assert.ErrorIs(t, r.Status().Err, errPoison)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.ErrorContains(t, r.WaitForSync(ctx), `all 2 objects of the first list were rejected, such as: informer *rig.Thing: object "ns/`)
		return r, rec
	}
	synced := func(t *testing.T, r *rig.Rig, version string) {
		t.Helper()
		assert.NoError(t, r.WaitForSync(t.Context()))
		assert.NoError(t, r.Status().Err)
		assert.Equal(t, version, r.ResourceVersion())
	}
	for name, test := range map[string]struct {
		then    func(source.Sink[*rig.Thing])
		want    []string
		version string
	}{
		"addition":             {func(s source.Sink[*rig.Thing]) { sinktest.Put(s, rig.At("c", 4), "4") }, []string{"initial c@4"}, "4"},
		"addition, no version": {func(s source.Sink[*rig.Thing]) { sinktest.Put(s, rig.At("c", 4), "") }, []string{"initial c@4"}, "3"},
		"repair":               {func(s source.Sink[*rig.Thing]) { sinktest.Put(s, rig.At("a", 4), "4") }, []string{"initial a@4"}, "4"},
		"list": {func(s source.Sink[*rig.Thing]) {
			sinktest.Replace(s, "", []*rig.Thing{rig.At("a", 4), poison("b", 2)}, "4")
		}, []string{"initial a@4"}, "4"},
		"list that is empty":   {func(s source.Sink[*rig.Thing]) { sinktest.Replace(s, "", nil, "4") }, nil, "4"},
		"list of a namespace":  {func(s source.Sink[*rig.Thing]) { sinktest.Replace(s, "ns", []*rig.Thing{rig.At("b", 4)}, "4") }, []string{"initial b@4"}, "4"},
		"namespace is empty":   {func(s source.Sink[*rig.Thing]) { sinktest.Replace(s, "ns", nil, "4") }, nil, "4"},
		"namespace is removed": {func(s source.Sink[*rig.Thing]) { sinktest.RemoveNamespace(s, "ns", "4") }, nil, "4"},
		"object is not wanted": {func(s source.Sink[*rig.Thing]) { sinktest.Remove(s, rig.Key("a"), index.OutOfScope, "4") }, nil, "4"},
		"all that were is gone": {func(s source.Sink[*rig.Thing]) {
			sinktest.Delete(s, poison("a", 4), "4")
			sinktest.Delete(s, rig.At("b", 5), "5")
		}, nil, "5"},
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				r, rec := rejected(t)
				test.then(r.Sink)
				assert.Equal(t, test.want, rec.Next())
				synced(t, r, test.version)
				assert.True(t, rig.IsClosed(rec.Synced()))
				sinktest.Put(r.Sink, rig.At("z", 9), "9")
				assert.Equal(t, []string{"add z@9"}, rec.Next(), "from here on it is as any other")
				sinktest.Replace(r.Sink, "", []*rig.Thing{poison("z", 9)}, "10")
				assert.Equal(t, "10", func() string { rec.Next(); return r.ResourceVersion() }(), "later lists count")
			})
		})
	}
	t.Run("what does not help", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r, rec := rejected(t)
			sinktest.Put(r.Sink, poison("a", 4), "4")
			sinktest.Delete(r.Sink, poison("a", 5), "5")
			sinktest.Replace(r.Sink, "", []*rig.Thing{poison("b", 2)}, "6")
			assert.Empty(t, rec.Next())
			assert.False(t, rig.IsClosed(r.Synced()))
		})
	})
	t.Run("a source that rejects", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t)
			r.Start()
			r.Sink.Report(&source.RejectedError{Informer: "x", Key: rig.Key("a"), Err: errPoison})
			r.Sink.Replace(source.List{Items: []source.Staged{source.Reject(rig.Key("a"))}}, "2")
			synctest.Wait()
			assert.False(t, rig.IsClosed(r.Synced()))
		})
	})
	t.Run("a filter that leaves out", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			src := rig.NewScript()
			informer := typed.NewInformer(source.FilterMap(src, func(o *rig.Thing) (*rig.Thing, bool) {
				if o.Node == "poison" {
					return nil, true
				}
				return o, false
			}))
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { assert.NoError(t, informer.Run(ctx)) })
			defer running.Wait()
			defer cancel()
			sink := <-src.Started
			sinktest.Replace(sink, "", []*rig.Thing{poison("a", 1)}, "1")
			synctest.Wait()
			assert.False(t, rig.IsClosed(informer.Synced()))
			sinktest.Replace(sink, "", []*rig.Thing{poison("a", 1), rig.At("b", 1)}, "2")
			synctest.Wait()
			assert.True(t, rig.IsClosed(informer.Synced()), "b can be used, it is not wanted")
		})
	})
}

// TestRemovalOfEverythingIsNoFirstList: a source that reports nothing any more, in all namespaces
// or one, has delivered no list.
func TestRemovalOfEverythingIsNoFirstList(t *testing.T) {
	for _, reason := range []index.Reason{index.OutOfScope, index.Released} {
		t.Run(reason.String(), func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				r := rig.New(t)
				r.Start()
				r.Sink.Replace(source.List{Reason: reason}, "1")
				synctest.Wait()
				assert.Equal(t, report.PhaseSyncing, r.Status().Phase)
				assert.False(t, rig.IsClosed(r.Synced()))
				sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 2)}, "2")
				synctest.Wait()
				assert.Equal(t, report.PhaseSynced, r.Status().Phase)
				rec := r.Record()
				synctest.Wait()
				assert.Equal(t, []string{"initial a@2"}, rec.Next())
				r.Sink.Replace(source.List{Reason: reason}, "3")
				assert.Equal(t, []string{"delete a@2 " + reason.String()}, rec.Next())
				assert.Zero(t, r.Status().Relists, "nor a later one")
			})
		})
	}
}
