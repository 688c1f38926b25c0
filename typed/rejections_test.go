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
	"github.com/kubetyped/informer/typed"
)

var errPoison = errors.New("poisoned")

// rejectPoison rejects things on the node "poison".
func rejectPoison() typed.Option {
	return typed.WithTransform(func(o *thing) (*thing, error) {
		if o.node == "poison" {
			o.name = "modified before it failed"
			return nil, errPoison
		}
		return o, nil
	})
}

func poison(name string, version int) *thing { return on("poison", at(name, version)) }

// TestRejectedDeletion deletes objects whose last state cannot be used.
func TestRejectedDeletion(t *testing.T) {
	for name, test := range map[string]struct {
		source func(*script) typed.Source[*thing]
		opts   []typed.Option
	}{
		"transform": {func(s *script) typed.Source[*thing] { return s }, []typed.Option{rejectPoison()}},
		"projection that is nil": {func(s *script) typed.Source[*thing] {
			return typed.Map(s, func(o *thing) *thing {
				if o.node == "poison" {
					return nil
				}
				return o
			})
		}, nil},
		"projection of another key": {func(s *script) typed.Source[*thing] {
			return typed.Map(s, func(o *thing) *thing {
				if o.node == "poison" {
					return at("other", 1)
				}
				return o
			})
		}, nil},
		"in a namespace": {func(s *script) typed.Source[*thing] {
			return typed.FromNamespaces(typed.NewNamespaces("ns"), func(string) typed.Source[*thing] { return s })
		}, []typed.Option{rejectPoison()}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newScript()
				r := &rig{t: t, Informer: typed.NewInformer(test.source(s), test.opts...), script: s, ended: make(chan error, 1)}
				var deleted []typed.Deleted[*thing]
				_, err := r.Handle(typed.HandlerFuncs[*thing]{DeleteFunc: func(d typed.Deleted[*thing]) { deleted = append(deleted, d) }})
				require.NoError(t, err)
				r.run()
				known := at("a", 1)
				r.sink.Replace([]*thing{known, at("b", 2)}, "2")
				r.sink.Delete(poison("a", 3), "3")
				synctest.Wait()
				assert.Equal(t, []typed.Deleted[*thing]{{Key: key("a"), Object: known, Old: known, Reason: index.Watched}}, deleted)
				assert.Equal(t, 1, r.Len())
				assert.Equal(t, "3", r.ResourceVersion())
				status := r.Status()
				assert.Equal(t, 1, status.Rejected, "it is told")
				assert.Zero(t, status.RejectedNow, "but nothing is missing")
				r.sink.Report(&typed.RejectedError{Key: key("b"), Err: errPoison})
				r.sink.DeleteKey(key("b"), "4")
				synctest.Wait()
				assert.Zero(t, r.Len(), "so can a source")
				assert.Zero(t, r.Status().RejectedNow)
				r.sink.DeleteKey(key("unknown"), "5")
				synctest.Wait()
				assert.Len(t, deleted, 2)
				assert.Equal(t, "5", r.ResourceVersion())
			})
		})
	}
}

// TestRejectedUpdate: the store keeps the state that it has, and it is told.
func TestRejectedUpdate(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, rejectPoison())
		rec := r.handle()
		r.run()
		r.sink.Replace([]*thing{at("a", 1), at("b", 2)}, "2")
		rec.next()
		assert.Nil(t, r.Rejected(key("a")))
		r.sink.Update(poison("a", 3), "3")
		r.sink.Bookmark("4")
		assert.Empty(t, rec.next())
		assert.Equal(t, "4", r.ResourceVersion(), "the rest goes on")
		assert.Equal(t, 1, mustGet(t, r, "a").version)
		rejected := r.Rejected(key("a"))
		require.NotNil(t, rejected)
		assert.ErrorIs(t, rejected, errPoison)
		assert.Equal(t, "3", rejected.ResourceVersion)
		assert.Nil(t, r.Rejected(key("b")))
		assert.Equal(t, []*typed.RejectedError{rejected}, r.Status().RejectedObjects)

		r.sink.Replace([]*thing{poison("a", 3), at("b", 2)}, "5")
		assert.Equal(t, []string{"update b@2 b@2", "resync a@1"}, rec.next(), "a list that it is in does not delete it")
		assert.Equal(t, 1, r.Status().RejectedNow)
		assert.True(t, r.Rejected(key("a")).Listed)
		r.sink.Update(at("a", 6), "6")
		assert.Equal(t, []string{"update a@1 a@6"}, rec.next())
		assert.Nil(t, r.Rejected(key("a")))
		assert.Zero(t, r.Status().RejectedNow)
		assert.Equal(t, 2, r.Status().Rejected)

		r.sink.Update(poison("b", 7), "7")
		r.sink.Replace([]*thing{at("a", 6)}, "8")
		assert.Equal(t, []string{"delete b@2 Relisted", "update a@6 a@6"}, rec.next(), "a list that it is not in does")
		assert.Zero(t, r.Status().RejectedNow)

		r.sink.Update(poison("a", 9), "9")
		r.sink.Add(poison("c", 10), "10")
		r.sink.ReplaceNamespace("elsewhere", nil, "11")
		synctest.Wait()
		assert.Equal(t, 2, r.Status().RejectedNow)
		r.sink.ReplaceNamespace("ns", []*thing{poison("a", 9)}, "12")
		assert.Equal(t, []string{"resync a@6"}, rec.next())
		assert.Equal(t, 1, r.Status().RejectedNow)
		r.sink.RemoveNamespace("ns", "13")
		assert.Equal(t, []string{"delete a@6 ScopeRemoved"}, rec.next())
		assert.Zero(t, r.Status().RejectedNow)
	})
}

// TestRejectedObjectsAreBounded looks at the order and the number of what Status
// tells.
func TestRejectedObjectsAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, rejectPoison())
		r.run()
		r.sink.Replace(nil, "1")
		for i := range 30 {
			r.sink.Add(poison(fmt.Sprint("n", i), i+2), fmt.Sprint(i+2))
		}
		r.sink.Update(poison("n12", 40), "40")
		synctest.Wait()
		status := r.Status()
		assert.Equal(t, 30, status.RejectedNow)
		assert.Equal(t, 31, status.Rejected)
		require.Len(t, status.RejectedObjects, 20)
		assert.Equal(t, key("n12"), status.RejectedObjects[0].Key)
		assert.Equal(t, key("n29"), status.RejectedObjects[1].Key)
		assert.Equal(t, key("n10"), status.RejectedObjects[19].Key)
		assert.Equal(t, "40", r.Rejected(key("n12")).ResourceVersion)
		assert.NotNil(t, r.Rejected(key("n0")), "of which Status does not tell any more")
	})
}

// TestFirstListThatIsRejected: an informer is not synced if it was sent objects
// and could use none.
func TestFirstListThatIsRejected(t *testing.T) {
	rejected := func(t *testing.T, opts ...typed.Option) (*rig, *recorder) {
		r := newRig(t, append(opts, rejectPoison())...)
		rec := r.handle()
		r.run()
		r.sink.Replace([]*thing{poison("a", 1), poison("b", 2)}, "2")
		r.sink.Report(nil) // the watch was opened
		r.sink.Bookmark("3")
		synctest.Wait()
		assert.False(t, isClosed(r.Synced()))
		assert.Empty(t, r.ResourceVersion())
		assert.Equal(t, typed.PhaseSyncing, r.Status().Phase)
		assert.ErrorIs(t, r.Status().Err, errPoison)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.ErrorContains(t, r.WaitForSync(ctx), `all 2 objects of the first list were rejected, such as: informer *typed_test.thing: object "ns/`)
		return r, rec
	}
	synced := func(t *testing.T, r *rig, version string) {
		t.Helper()
		assert.NoError(t, r.WaitForSync(t.Context()))
		assert.NoError(t, r.Status().Err)
		assert.Equal(t, version, r.ResourceVersion())
	}
	for name, test := range map[string]struct {
		then    func(typed.Sink[*thing])
		want    []string
		version string
	}{
		"addition":              {func(s typed.Sink[*thing]) { s.Add(at("c", 4), "4") }, []string{"initial c@4"}, "4"},
		"addition, no version":  {func(s typed.Sink[*thing]) { s.Add(at("c", 4), "") }, []string{"initial c@4"}, "3"},
		"repair":                {func(s typed.Sink[*thing]) { s.Update(at("a", 4), "4") }, []string{"initial a@4"}, "4"},
		"list":                  {func(s typed.Sink[*thing]) { s.Replace([]*thing{at("a", 4), poison("b", 2)}, "4") }, []string{"initial a@4"}, "4"},
		"list that is empty":    {func(s typed.Sink[*thing]) { s.Replace(nil, "4") }, nil, "4"},
		"list of a namespace":   {func(s typed.Sink[*thing]) { s.ReplaceNamespace("ns", []*thing{at("b", 4)}, "4") }, []string{"initial b@4"}, "4"},
		"namespace is empty":    {func(s typed.Sink[*thing]) { s.ReplaceNamespace("ns", nil, "4") }, nil, "4"},
		"namespace is removed":  {func(s typed.Sink[*thing]) { s.RemoveNamespace("ns", "4") }, nil, "4"},
		"object is not wanted":  {func(s typed.Sink[*thing]) { s.Remove(key("a"), "4") }, nil, "4"},
		"all that were is gone": {func(s typed.Sink[*thing]) { s.Delete(poison("a", 4), "4"); s.Delete(at("b", 5), "5") }, nil, "5"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r, rec := rejected(t)
				test.then(r.sink)
				assert.Equal(t, test.want, rec.next())
				synced(t, r, test.version)
				assert.True(t, isClosed(rec.Synced()))
				r.sink.Update(at("z", 9), "9")
				assert.Equal(t, []string{"add z@9"}, rec.next(), "from here on it is as any other")
				r.sink.Replace([]*thing{poison("z", 9)}, "10")
				assert.Equal(t, "10", func() string { rec.next(); return r.ResourceVersion() }(), "later lists count")
			})
		})
	}
	t.Run("what does not help", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			r, rec := rejected(t)
			r.sink.Update(poison("a", 4), "4")
			r.sink.Delete(poison("a", 5), "5")
			r.sink.Replace([]*thing{poison("b", 2)}, "6")
			assert.Empty(t, rec.next())
			assert.False(t, isClosed(r.Synced()))
		})
	})
	t.Run("a source that rejects", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			r := newRig(t)
			r.run()
			r.sink.Report(&typed.RejectedError{Informer: "x", Key: key("a"), Err: errPoison})
			r.sink.Replace(nil, "2")
			synctest.Wait()
			assert.False(t, isClosed(r.Synced()))
		})
	})
	t.Run("a filter that leaves out", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			source := newScript()
			informer := typed.NewInformer(typed.FilterMap(source, func(o *thing) (*thing, bool) {
				if o.node == "poison" {
					return nil, true
				}
				return o, false
			}))
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { assert.NoError(t, informer.Run(ctx)) })
			defer running.Wait()
			defer cancel()
			sink := <-source.started
			sink.Replace([]*thing{poison("a", 1)}, "1")
			synctest.Wait()
			assert.False(t, isClosed(informer.Synced()))
			sink.Replace([]*thing{poison("a", 1), at("b", 1)}, "2")
			synctest.Wait()
			assert.True(t, isClosed(informer.Synced()), "b can be used, it is not wanted")
		})
	})
}
