package typed_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/report"
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
		sinktest.Replace(sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
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
		synctest.Wait()
		a.Release()
		sinktest.Put(sink, rig.At("a", 2), "2")
		assert.Equal(t, []string{"initial a@1", "update a@1 a@2"}, recB.Next(), "it goes on for the other")
		assert.Equal(t, []string{"initial a@1"}, recA.Next())
		b.Release()
		synctest.Wait()
		assert.Equal(t, []string{"*rig.Thing y", "rig.Placement x"}, names(f.Status()))

		again := f.share("x")
		sinktest.Replace(f.sink(), "", []*rig.Thing{rig.At("b", 3)}, "3")
		synctest.Wait()
		assert.Len(t, f.scripts, 4, "it has started anew")
		assert.Equal(t, "b@3", again.List()[0].String())
	})
}

func names(statuses []report.Status) (all []string) {
	for _, s := range statuses {
		all = append(all, s.Name)
	}
	return all
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
		sinktest.Replace(x, "", nil, "1")
		sinktest.Replace(y, "", nil, "1")
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
		sinktest.Replace(f.sink(), "", []*rig.Thing{rig.At("a", 1)}, "1")
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

func TestFactoryReplacesEndedInformers(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		l := f.share("x")
		f.sink()
		f.scripts[0].Fail <- assert.AnError
		synctest.Wait()
		assert.ErrorIs(t, l.WaitForSync(t.Context()), assert.AnError)
		assert.ErrorIs(t, f.WaitForSync(t.Context()), assert.AnError, "it is in use")
		again := f.share("x")
		sinktest.Replace(f.sink(), "", nil, "1")
		assert.NoError(t, again.WaitForSync(t.Context()))
		assert.ErrorContains(t, f.WaitForSync(t.Context()), "informer *rig.Thing x is not synced: the informer has stopped")
		l.Release()
		assert.NoError(t, again.WaitForSync(t.Context()), "the other goes on")
		assert.NoError(t, f.WaitForSync(t.Context()))
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
	assert.ErrorContains(t, err, "factory is nil")
	assert.ErrorContains(t, share("k", nil), "informer *rig.Thing k: source function is nil")
	assert.ErrorContains(t, share("k", f.source), "the transform function is a func(v1.Object)")
	assert.ErrorContains(t, share([]int{1}, f.source), "cannot be compared")
	assert.ErrorContains(t, share(math.NaN(), f.source), "cannot be compared")
	f = newShop(t)
	assert.ErrorContains(t, share("k", func() source.Source[*rig.Thing] { return nil }), "source is nil")
	assert.Empty(t, f.Status(), "nothing was started")
}

// TestShareChecksOptionsOfALaterRequest, for which no informer is made.
func TestShareChecksOptionsOfALaterRequest(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		defer f.Shutdown()
		_, err := typed.Share(f.Factory, "k", f.source)
		require.NoError(t, err)
		for want, opt := range map[string]typed.Option{
			"informer *rig.Thing k: WithGrace: the time -1ns is negative": typed.WithGrace(-1),
			"informer *rig.Thing k: the name is empty":                    typed.WithName(""),
			"informer *rig.Thing k: option is nil":                        nil,
		} {
			_, err := typed.Share(f.Factory, "k", f.source, opt)
			assert.ErrorContains(t, err, want)
		}
		assert.Len(t, f.Status()[0].Holders, 1)
	})
}

// TestUseContext: informers have the values of the context, and run until the factory ends.
func TestUseContext(t *testing.T) {
	type program struct{}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), program{}, "controller"))
		f := typed.NewFactory()
		contexts := make(chan context.Context)
		share := func(namespace string) context.Context {
			l, err := typed.Share(f, place(namespace), func() source.Source[*rig.Thing] {
				return calling(func(ctx context.Context, _ source.Sink[*rig.Thing]) error {
					contexts <- ctx
					<-ctx.Done()
					return nil
				})
			})
			require.NoError(t, err)
			t.Cleanup(l.Release)
			return <-contexts
		}
		before := share("before")
		f.UseContext(ctx)
		after := share("after")
		assert.Nil(t, before.Value(program{}))
		assert.Equal(t, "controller", after.Value(program{}))
		cancel()
		synctest.Wait()
		assert.NoError(t, after.Err())
		f.Shutdown()
		assert.ErrorIs(t, after.Err(), context.Canceled)
	})
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
