package typed_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/internal/rig"
	"github.com/kubetyped/informer/typed/source"
)

// place is the key of the things of a namespace.
type place string

// shop is a factory with the scripts of its informers.
type shop struct {
	*typed.Factory
	t       *testing.T
	scripts []*rig.Script
}

func newShop(t *testing.T, opts ...typed.Option) *shop {
	f := &shop{t: t, Factory: typed.NewFactory(opts...)}
	t.Cleanup(f.Shutdown)
	return f
}

// share returns a shared informer for a key.
func (f *shop) share(key place) *typed.SharedInformer[*rig.Thing] {
	l, err := typed.Share(f.Factory, key, f.source)
	require.NoError(f.t, err)
	return l
}

func (f *shop) source() source.Source[*rig.Thing] {
	f.scripts = append(f.scripts, rig.NewScript())
	return f.scripts[len(f.scripts)-1]
}

// sink returns that of the informer that was started last.
func (f *shop) sink() source.Sink[*rig.Thing] { return <-f.scripts[len(f.scripts)-1].Started }

func TestFactoryShares(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		a, b, other := f.share("x"), f.share("x"), f.share("y")
		require.Len(t, f.scripts, 2, "one for each key")
		sink := <-f.scripts[0].Started
		sink.Replace("", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		assert.Equal(t, []int{1, 1, 0}, []int{a.Len(), b.Len(), other.Len()})
		assert.Equal(t, "*rig.Thing x", a.Name())
		projected, err := typed.Share(f.Factory, place("x"), func() source.Source[rig.Placement] {
			return source.Map(f.source(), rig.PlacementOf)
		})
		require.NoError(t, err)
		assert.Zero(t, projected.Len(), "another type is another informer")
		assert.Equal(t, []string{"*rig.Thing x", "*rig.Thing y", "rig.Placement x"}, names(f.Status()))

		recA, recB := &rig.Recorder{}, &rig.Recorder{}
		_, err = a.Handle(recA)
		require.NoError(t, err)
		_, err = b.Handle(recB)
		require.NoError(t, err)
		a.Release()
		sink.Put(rig.At("a", 2), "2")
		assert.Equal(t, []string{"initial a@1", "update a@1 a@2"}, recB.Next(), "it goes on for the other")
		assert.Equal(t, []string{"initial a@1"}, recA.Next())
		b.Release()
		synctest.Wait()
		assert.Equal(t, []string{"*rig.Thing y", "rig.Placement x"}, names(f.Status()))

		again := f.share("x")
		f.sink().Replace("", []*rig.Thing{rig.At("b", 3)}, "3")
		synctest.Wait()
		assert.Len(t, f.scripts, 4, "it has started anew")
		assert.Equal(t, "b@3", again.List()[0].String())
	})
}

func names(statuses []typed.Status) (all []string) {
	for _, s := range statuses {
		all = append(all, s.Name)
	}
	return all
}

func TestLeaseReads(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		l := f.share("x")
		byNode := index.Single("node", func(o *rig.Thing) (string, bool) { return o.Node, true })
		require.NoError(t, l.AddIndexes(byNode))
		f.sink().Replace("", []*rig.Thing{rig.On("n", rig.At("a", 1)), rig.On("m", rig.At("b", 2))}, "2")
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
		sink.Replace("", []*rig.Thing{rig.At("a", 1)}, "1")
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
		sink.Put(rig.At("a", 2), "2")
		assert.Empty(t, rec.Next(), "its handler was removed")
		assert.Len(t, kept.Status().Handlers, 0)
		assertReleased(t, l)
		assert.Equal(t, 1, kept.Len())
		assert.Equal(t, kept.Name(), l.Name())
		assert.Equal(t, typed.PhaseStopped, l.Status().Phase)
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

// TestReleaseByItsHandlers has all handlers of the last user release it at the
// same time.
func TestReleaseByItsHandlers(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		l := f.share("x")
		release := make(chan struct{})
		for range 2 {
			_, err := l.Handle(&rig.Recorder{Hook: func(string) { <-release; l.Release() }})
			require.NoError(t, err)
		}
		f.sink().Replace("", []*rig.Thing{rig.At("a", 1), rig.At("b", 2)}, "2")
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
		f.sink().Replace("", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		l.Release()
		assert.Equal(t, 1, read, "Release waits for the handler")
		assertReleased(t, l)
	})
}

func TestFactoryWaitForSync(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		assert.NoError(t, f.WaitForSync(t.Context()), "nothing to wait for")
		f.share("x")
		x := f.sink()
		f.share("y")
		y := f.sink()
		released := f.share("z")
		waited := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { waited <- f.WaitForSync(ctx) }()
		x.Report(errors.New("x is forbidden"))
		y.Report(errors.New("y is forbidden"))
		synctest.Wait()
		cancel()
		err := <-waited
		assert.ErrorContains(t, err, "informer *rig.Thing x is not synced: context canceled; list or watch fails")
		assert.ErrorContains(t, err, "x is forbidden")
		assert.ErrorContains(t, err, "y is forbidden")
		assert.ErrorContains(t, err, "*rig.Thing z is not synced: context canceled")
		var reason *typed.SyncError
		assert.ErrorAs(t, err, &reason)

		go func() { waited <- f.WaitForSync(t.Context()) }()
		x.Replace("", nil, "1")
		y.Replace("", nil, "1")
		synctest.Wait()
		assert.Empty(t, waited)
		released.Release()
		assert.NoError(t, <-waited, "what was released is not waited for")
	})
}

func TestFactoryShutdown(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		l := f.share("x")
		byName := index.Single("name", func(o *rig.Thing) (string, bool) { return o.Name, true })
		require.NoError(t, l.AddIndexes(byName))
		f.sink().Replace("", []*rig.Thing{rig.At("a", 1)}, "1")
		hold := make(chan struct{})
		_, err := l.Handle(&rig.Recorder{Hook: func(string) { <-hold }})
		require.NoError(t, err)
		synctest.Wait()
		ended := make(chan struct{})
		go func() { f.Shutdown(); close(ended) }()
		synctest.Wait()
		assert.False(t, rig.IsClosed(ended), "a handler is running")
		close(hold)
		<-ended
		f.Shutdown()
		assert.Equal(t, 1, l.Len(), "what was not released answers from the last state")
		assert.ErrorIs(t, l.WaitForSync(t.Context()), typed.ErrStopped)
		assert.ErrorIs(t, f.WaitForSync(t.Context()), typed.ErrShutDown)
		_, err = typed.Share(f.Factory, place("x"), f.source)
		assert.ErrorIs(t, err, typed.ErrShutDown)
		assert.Equal(t, "a@1", byName.Get("a")[0].String())
		l.Release()
		assertReleased(t, l)
		assert.ErrorIs(t, panicOf(func() { byName.Get("a") }), index.ErrReleased, "it was the last use")
	})
}

func TestFactoryReplacesAnInformerThatHasEnded(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		l := f.share("x")
		f.sink()
		f.scripts[0].Fail <- assert.AnError
		synctest.Wait()
		assert.ErrorIs(t, l.WaitForSync(t.Context()), assert.AnError)
		again := f.share("x")
		f.sink().Replace("", nil, "1")
		assert.NoError(t, again.WaitForSync(t.Context()))
		l.Release()
		assert.NoError(t, again.WaitForSync(t.Context()), "the other goes on")
	})
}

type region struct{ name string }

func (r *region) String() string { return "of " + r.name }

// TestFactoryNames: a key is in the name of its informer if it has words.
func TestFactoryNames(t *testing.T) {
	f := newShop(t)
	for _, test := range []struct {
		key  any
		want string
	}{
		{"x", "*rig.Thing x"},
		{7, "*rig.Thing 7"},
		{[2]int{1, 2}, "*rig.Thing [1 2]"},
		{&region{"north"}, "*rig.Thing of north"},
		{index.Key{Namespace: "default", Name: "a"}, "*rig.Thing default/a"},
		{region{"north"}, "*rig.Thing"},
		{new(int), "*rig.Thing"},
		{nil, "*rig.Thing <nil>"},
	} {
		l, err := typed.Share(f.Factory, test.key, f.source)
		require.NoError(t, err)
		assert.Equal(t, test.want, l.Name())
		l.Release()
	}
}

func TestFactoryChecksItsArguments(t *testing.T) {
	f := newShop(t, typed.WithTransform(func(o metav1.Object) (metav1.Object, error) { return o, nil }))
	share := func(key any, src func() source.Source[*rig.Thing]) error {
		_, err := typed.Share(f.Factory, key, src)
		return err
	}
	_, err := typed.Share(nil, "k", f.source)
	assert.ErrorContains(t, err, "the factory is nil")
	assert.ErrorContains(t, share("k", nil), "informer *rig.Thing k: the function that returns the source is nil")
	assert.ErrorContains(t, share("k", f.source), "the transform function is a func(v1.Object)")
	assert.ErrorContains(t, share([]int{1}, f.source), "cannot be compared")
	assert.ErrorContains(t, share(math.NaN(), f.source), "cannot be compared")
	f = newShop(t)
	assert.ErrorContains(t, share("k", func() source.Source[*rig.Thing] { return nil }), "the source is nil")
	assert.Empty(t, f.Status(), "nothing was started")
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
		sink.Replace("", list, "1")
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

// TestUsersComeAndGo has many goroutines share, use and release a few informers
// at the same time.
func TestUsersComeAndGo(t *testing.T) {
	f := typed.NewFactory()
	var users sync.WaitGroup
	for user := range 8 {
		users.Go(func() {
			for i := range 60 {
				namespace := fmt.Sprint("n", (i+user)%3)
				l, err := typed.Share(f, place(namespace), func() source.Source[*rig.Thing] { return rig.Busy(namespace) })
				if !assert.NoError(t, err) {
					return
				}
				_, err = l.Handle(&rig.Recorder{}, typed.WithDelivery(typed.Block(1)))
				assert.NoError(t, err)
				assert.NoError(t, l.WaitForSync(t.Context()))
				assert.Equal(t, 1, l.Len())
				l.Release()
				l.Release()
			}
		})
	}
	users.Wait()
	assert.Empty(t, f.Status())
	f.Shutdown()
}
