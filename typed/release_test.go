package typed_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/report"
)

// panicOf returns the error that f panics with, nil if it does not.
func panicOf(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = p.(error)
		}
	}()
	f()
	return nil
}

// assertReleased checks that no read of a released store returns an empty result.
func assertReleased(t *testing.T, from index.Reader[*rig.Thing]) {
	t.Helper()
	assert.ErrorIs(t, from.Err(), index.ErrReleased)
	for name, read := range map[string]func(){
		"Get":           func() { from.Get(rig.Key("a")) },
		"Len":           func() { from.Len() },
		"List":          func() { from.List() },
		"ListNamespace": func() { from.ListNamespace("ns") },
		"Snapshot":      func() { from.Snapshot() },
		"All": func() {
			for range from.All() {
			}
		},
		"Namespace": func() {
			for range from.InNamespace("ns") {
			}
		},
		"Keys": func() {
			for range from.Keys() {
			}
		},
		"Candidates": func() {
			for range from.Candidates("ns", labels.Everything()) {
			}
		},
	} {
		assert.ErrorIs(t, panicOf(read), index.ErrReleased, name)
	}
	things := lister.New(from)
	_, err := things.Namespace("ns").Get("a")
	assert.ErrorIs(t, err, index.ErrReleased)
	_, err = things.List(labels.Everything())
	assert.ErrorIs(t, err, index.ErrReleased)
}

func TestRelease(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithName("things"))
		byNode := index.Single("node", func(o *rig.Thing) (string, bool) { return o.Node, true })
		require.NoError(t, r.AddIndexes(byNode))
		rec := r.Record()
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		rec.Next()
		hold := make(chan struct{})
		rec.Before(func(string) { <-hold })
		sinktest.Put(r.Sink, rig.At("a", 2), "2")
		synctest.Wait()
		assert.ErrorContains(t, r.Release(), "informer things: not released: it is running; end the context of Run")
		r.Stop()
		synctest.Wait()
		assert.Equal(t, report.PhaseStopped, r.Status().Phase)
		assert.ErrorContains(t, r.Release(), "not released: it is running", "a handler is")
		assert.Equal(t, 1, r.Len())
		close(hold)
		synctest.Wait()

		before := r.Snapshot()
		require.NoError(t, r.Release())
		require.NoError(t, r.Release(), "again")
		assertReleased(t, r)
		assert.ErrorIs(t, index.ErrReleased, index.ErrReleased, "it is the same")
		assert.ErrorIs(t, panicOf(func() { byNode.Get("node-1") }), index.ErrReleased)
		assert.ErrorIs(t, r.WaitForSync(t.Context()), index.ErrReleased)
		assert.ErrorIs(t, r.WaitForResourceVersion(t.Context(), "1"), index.ErrReleased)
		assert.ErrorIs(t, r.AddIndexes(index.New("late", func(*rig.Thing) []string { return nil })), index.ErrReleased)
		_, err := r.Handle(rec)
		assert.ErrorIs(t, err, index.ErrReleased)
		assert.ErrorIs(t, r.Run(t.Context()), index.ErrReleased)
		for range r.Events(t.Context()).All() {
			t.Error("there are no events")
		}
		rec.Resync()
		assert.Equal(t, 1, before.Len(), "a snapshot stays")
		assert.Equal(t, "2", r.ResourceVersion())
		assert.Equal(t, report.PhaseStopped, r.Status().Phase)
		assert.Zero(t, r.Status().Objects)
	})
}

func TestReleaseBeforeRun(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		rec := r.Record()
		waited := make(chan error, 2)
		go func() { waited <- r.WaitForSync(context.Background()) }()
		go func() { waited <- rec.WaitForSync(context.Background()) }()
		synctest.Wait()
		require.NoError(t, r.Release())
		assert.ErrorIs(t, <-waited, index.ErrReleased)
		assert.ErrorIs(t, <-waited, index.ErrReleased)
		assert.True(t, rig.IsClosed(rec.Done()))
		rec.Close()
		assertReleased(t, r)
		assert.ErrorIs(t, r.Run(t.Context()), index.ErrReleased)
	})
	assert.ErrorContains(t, typed.NewInformer[*rig.Thing](nil).Release(), "source is nil")
	assert.ErrorContains(t, typed.NewInformer[*rig.Thing](nil).Err(), "source is nil")
}

func TestReleaseOfTheCallersIndexer(t *testing.T) {
	store := index.NewIndexer[*rig.Thing]()
	r := rig.New(t, typed.WithIndexer(store))
	require.NoError(t, r.Release())
	assertReleased(t, store)

	other := index.NewIndexer[*rig.Thing]()
	r = rig.New(t, typed.WithIndexer(other))
	other.Release()
	assert.ErrorIs(t, r.Err(), index.ErrReleased)
	assert.ErrorContains(t, r.Err(), "informer *rig.Thing: ")
	assert.Zero(t, r.Status().Objects)
}

// TestMemoryGoesWithTheInformer: a stopped informer without references frees its objects.
func TestMemoryGoesWithTheInformer(t *testing.T) {
	objects := make([]weak.Pointer[rig.Thing], 100)
	informer := func() weak.Pointer[typed.Informer[*rig.Thing]] {
		s := rig.NewScript()
		things := typed.NewInformer[*rig.Thing](s)
		_, err := things.Handle(&rig.Recorder{}, typed.WithDelivery(typed.Coalesce()))
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- things.Run(ctx) }()
		list := make([]*rig.Thing, len(objects))
		for i := range list {
			list[i] = rig.At(string(rune('a'+i)), i+1)
			objects[i] = weak.Make(list[i])
		}
		sinktest.Replace((<-s.Started), "", list, "1")
		require.NoError(t, things.WaitForSync(ctx))
		stop()
		require.NoError(t, <-ended)
		return weak.Make(things)
	}()
	for i := 0; informer.Value() != nil && i < 100; i++ {
		runtime.GC()
	}
	assert.Nil(t, informer.Value())
	assert.Zero(t, countAlive(objects))
}

// TestReleaseAfterACallThatOutlastsRun: Release frees the object of a call that was running when the
// informer stopped, and what waited behind it, even if the program refers to the registration.
func TestReleaseAfterACallThatOutlastsRun(t *testing.T) {
	for _, policy := range []typed.Delivery{typed.EveryEvent(), typed.Coalesce(), typed.Block(1)} {
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t)
			rec := r.Record(typed.WithDelivery(policy))
			r.Start()
			hold := make(chan struct{})
			rec.Before(func(string) { <-hold })
			thing := rig.At("a", 1)
			of := weak.Make(thing)
			sinktest.Put(r.Sink, thing, "1")
			synctest.Wait()
			sinktest.Put(r.Sink, rig.At("b", 2), "2")
			rec.Resync()
			r.Stop()
			synctest.Wait()
			close(hold)
			synctest.Wait()
			require.NoError(t, r.Release())
			thing, r.Sink = nil, nil
			runtime.GC()
			assert.Nil(t, of.Value(), policy)
			assert.Zero(t, rec.Backlog())
		})
	}
}
