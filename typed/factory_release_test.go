package typed_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

func TestLeaseReads(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		l := f.share("x")
		byNode := index.Single("node", func(o *rig.Thing) (string, bool) { return o.Node, true })
		require.NoError(t, l.AddIndexes(byNode))
		sinktest.Replace(f.sink(), "", []*rig.Thing{rig.On("n", rig.At("a", 1)), rig.On("m", rig.At("b", 2))}, "2")
		require.NoError(t, l.WaitForSync(t.Context()))
		require.NoError(t, l.WaitForResourceVersion(t.Context(), "2"))
		assert.True(t, rig.IsClosed(l.Synced()))
		for _, r := range []index.Reader[*rig.Thing]{l, l.Snapshot()} {
			o, ok := r.Get(rig.Key("a"))
			assert.True(t, ok)
			assert.Equal(t, "a@1", o.String())
			assert.Equal(t, 2, r.Len())
			assert.Len(t, r.List(), 2)
			assert.Len(t, r.ListNamespace("ns"), 2)
			assert.Equal(t, "2", r.ResourceVersion())
			count := 0
			for range r.All() {
				count++
			}
			for range r.InNamespace("ns") {
				count++
			}
			for range r.Candidates("ns", nil) {
				count++
			}
			for range r.Keys() {
				count++
			}
			assert.Equal(t, 8, count)
		}
		assert.Len(t, byNode.Get("n"), 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for e := range l.Events(ctx).All() {
			assert.Equal(t, index.Added, e.Type)
			cancel()
		}
	})
}

func TestReleasedSharedInformer(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		kept, l := f.share("x"), f.share("x")
		waits := make(chan error, 4)
		go func() { waits <- l.WaitForSync(context.Background()) }()
		synctest.Wait()
		early := f.share("x")
		early.Release() // while it syncs
		assert.ErrorIs(t, early.WaitForSync(t.Context()), index.ErrReleased)
		assert.Empty(t, waits, "the others still wait")
		sink := f.sink()
		sinktest.Replace(sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		require.NoError(t, <-waits)
		rec := &rig.Recorder{}
		registration, err := l.Handle(rec)
		require.NoError(t, err)
		closed, err := l.Handle(&rig.Recorder{})
		require.NoError(t, err)
		closed.Close()
		rec.Next()
		go func() { waits <- l.WaitForResourceVersion(context.Background(), "99") }()
		go func() {
			for range l.Events(context.Background()).All() {
			}
			waits <- nil
		}()
		synctest.Wait()

		l.Release()
		synctest.Wait()
		for range 2 {
			if err := <-waits; err != nil {
				assert.ErrorIs(t, err, index.ErrReleased)
			}
		}
		l.Release()
		sinktest.Put(sink, rig.At("a", 2), "2")
		assert.Empty(t, rec.Next(), "its handler was removed")
		assert.Len(t, kept.Status().Handlers, 0)
		assertReleased(t, l)
		assert.Equal(t, 1, kept.Len())
		assert.Equal(t, kept.Name(), l.Name())
		assert.Equal(t, report.PhaseStopped, l.Status().Phase)
		assert.ErrorIs(t, l.WaitForSync(t.Context()), index.ErrReleased)
		assert.ErrorIs(t, l.WaitForResourceVersion(t.Context(), "1"), index.ErrReleased)
		assert.ErrorIs(t, l.AddIndexes(index.New("i", func(*rig.Thing) []string { return nil })), index.ErrReleased)
		_, err = l.Handle(rec)
		assert.ErrorIs(t, err, index.ErrReleased)
		for range l.Events(t.Context()).All() {
			t.Error("there are no events")
		}
		registration.Close()
		assert.NoError(t, kept.WaitForSync(t.Context()))
	})
}

// TestReleaseByItsHandlers: all handlers of the last user release it at the same time.
func TestReleaseByItsHandlers(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		l := f.share("x")
		release := make(chan struct{})
		for range 2 {
			_, err := l.Handle(&rig.Recorder{Hook: func(string) { <-release; l.Release() }})
			require.NoError(t, err)
		}
		sinktest.Replace(f.sink(), "", []*rig.Thing{rig.At("a", 1), rig.At("b", 2)}, "2")
		synctest.Wait()
		close(release)
		synctest.Wait()
		assert.Empty(t, f.Status())
		f.Shutdown()
	})
}

// TestReleaseWhileAHandlerReads releases a use while one of its handlers, in a call of which
// it waits, reads from it.
func TestReleaseWhileAHandlerReads(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		l := f.share("x")
		read := 0
		_, err := l.Handle(&rig.Recorder{Hook: func(string) {
			time.Sleep(time.Second)
			assert.Equal(t, 1, l.Len())
			assert.ErrorIs(t, l.WaitForResourceVersion(t.Context(), "99"), index.ErrReleased)
			_, ok := l.Get(index.KeyOf(rig.At("a", 1)))
			assert.True(t, ok)
			read++
		}})
		require.NoError(t, err)
		sinktest.Replace(f.sink(), "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		l.Release()
		assert.Equal(t, 1, read, "Release waits for the handler")
		assertReleased(t, l)
	})
}

// TestMemoryIsReleasedWithTheLastLease checks that nothing keeps the objects of
// an informer alive after its last use, though all of them are reachable.
func TestMemoryIsReleasedWithTheLastLease(t *testing.T) {
	f := newShop(t)
	a, b := f.share("x"), f.share("x")
	rec := &rig.Recorder{}
	registration, err := a.Handle(rec)
	require.NoError(t, err)
	objects := make([]weak.Pointer[rig.Thing], 1000)
	sink := f.sink()
	func() {
		list := make([]*rig.Thing, len(objects))
		for i := range list {
			list[i] = rig.At(fmt.Sprint("t", i), i+1)
			objects[i] = weak.Make(list[i])
		}
		sinktest.Replace(sink, "", list, "1")
	}()
	require.NoError(t, registration.WaitForSync(t.Context()))
	a.Release()
	runtime.GC()
	assert.NotNil(t, objects[7].Value(), "one use is left")
	b.Release()
	f.Shutdown()
	alive := len(objects)
	for i := 0; alive > 0 && i < 10; i++ {
		runtime.GC()
		alive = 0
		for _, o := range objects {
			if o.Value() != nil {
				alive++
			}
		}
	}
	assert.Zero(t, alive)
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	runtime.KeepAlive(f)
	runtime.KeepAlive(registration)
}

// TestShareAtTheMomentOfRelease: an informer that its last user releases is shared no more.
func TestShareAtTheMomentOfRelease(t *testing.T) {
	f := typed.NewFactory()
	defer f.Shutdown()
	share := func() *typed.SharedInformer[*rig.Thing] {
		things, err := typed.Share(f, "key", func() source.Source[*rig.Thing] { return rig.Busy("ns") })
		require.NoError(t, err)
		return things
	}
	var users sync.WaitGroup
	for range 4 {
		users.Go(func() {
			for range 200 {
				things := share()
				assert.NoError(t, things.WaitForSync(t.Context()), "it is not released")
				things.Release()
			}
		})
	}
	for range 500 {
		assert.NoError(t, f.WaitForSync(t.Context()), "those that are released meanwhile are not waited for")
	}
	users.Wait()
}

// TestShareAfterAnInformerHasFailed: Share starts a new informer although a handler of the failed one
// is running, so that Run of that has not returned.
func TestShareAfterAnInformerHasFailed(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		failed := f.share("x")
		hold := make(chan struct{})
		_, err := failed.Handle(&rig.Recorder{Hook: func(string) { <-hold }})
		require.NoError(t, err)
		sinktest.Replace(f.sink(), "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait() // the handler is running
		end := sync.OnceFunc(func() { close(hold) })
		defer end()
		f.scripts[0].Fail <- errors.New("no rights")
		synctest.Wait()
		require.ErrorIs(t, failed.WaitForSync(t.Context()), typed.ErrStopped)
		l := f.share("x")
		require.Len(t, f.scripts, 2)
		sinktest.Replace(f.sink(), "", []*rig.Thing{rig.At("a", 2)}, "2")
		assert.NoError(t, l.WaitForSync(t.Context()))
		end()
		synctest.Wait()
		assert.Len(t, f.Informers(), 1, "the new one stays")
		failed.Release()
		assert.NoError(t, l.WaitForSync(t.Context()))
	})
}
