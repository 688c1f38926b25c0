package typed_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// TestHandlerThatEndsItsGoroutine removes the handler: no call waits for it, and it has no backlog.
func TestHandlerThatEndsItsGoroutine(t *testing.T) {
	for _, delivery := range []typed.Delivery{typed.EveryEvent(), typed.Coalesce(), typed.Block(1)} {
		t.Run(delivery.String(), func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				var reported []error
				handle := utilruntime.ErrorHandler(func(_ context.Context, err error, _ string, _ ...any) { reported = append(reported, err) })
				rig.ErrorHandler.Store(&handle)
				defer rig.ErrorHandler.Store(nil)
				r := rig.New(t)
				other := r.Record()
				rec := r.Record(typed.WithDelivery(delivery))
				rec.Before(func(string) { runtime.Goexit() })
				r.Start()
				sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 0)}, "1")
				for i := range 10 {
					sinktest.Put(r.Sink, rig.At("a", i+1), fmt.Sprint(i+2))
				}
				assert.Len(t, other.Next(), 11, "the informer goes on")
				assert.Len(t, r.Status().Handlers, 1)
				assert.True(t, rig.IsClosed(rec.Done()))
				assert.ErrorIs(t, rec.Err(), typed.ErrExited)
				assert.NoError(t, other.Err())
				assert.ErrorIs(t, rec.WaitForSync(t.Context()), typed.ErrExited)
				assert.Equal(t, []error{typed.ErrExited}, reported)
				rec.Close()
				rec.Resync()
				assert.Empty(t, rec.Next())
			})
		})
	}
}

// TestEventsOfAnEndedContext ranges over nothing, whatever there is.
func TestEventsOfAnEndedContext(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		r.Start()
		var list []*rig.Thing
		for i := range 1000 {
			list = append(list, rig.At(fmt.Sprint("n", i), i+1))
		}
		sinktest.Replace(r.Sink, "", list, "1000")
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		seen := 0
		for range r.Events(ctx).All() {
			seen++
			cancel()
		}
		assert.Equal(t, 1, seen, "it ends in the middle of a range")
		for range r.Events(ctx).All() {
			t.Error("there are no events")
		}
	})
}

// TestMemoryOfABurst applies many changes at once, and checks the memory kept for the next batch.
func TestMemoryOfABurst(t *testing.T) {
	assert.Less(t, typed.KeptAfterBurst(rig.At, 20000, false), 1000, "room for the events of a piece")
	assert.Zero(t, typed.KeptAfterBurst(rig.At, 20000, true), "the memory of a large step is freed")
	assert.Positive(t, typed.KeptAfterBurst(rig.At, 100, false), "what is common is kept")
}

// TestSourceEndsTheGoroutine: if a transform function ends the goroutine of Run, the informer stops,
// rather than make its users wait for ever.
func TestSourceEndsTheGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		things := typed.NewInformer[*rig.Thing](calling(func(_ context.Context, sink source.Sink[*rig.Thing]) error {
			sinktest.Replace(sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
			return nil
		}), typed.WithTransform(func(o *rig.Thing) (*rig.Thing, error) {
			runtime.Goexit()
			return o, nil
		}))
		registration, err := things.Handle(&rig.Recorder{})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() { _ = things.Run(ctx) }()
		assert.ErrorIs(t, things.WaitForSync(ctx), typed.ErrStopped)
		assert.ErrorContains(t, things.WaitForSync(t.Context()), "has ended the goroutine of Run")
		synctest.Wait()
		assert.True(t, rig.IsClosed(registration.Done()), "its goroutine has ended")
		assert.NoError(t, things.Release())
	})
}

// TestSourceEndsTheGoroutineOfAFactory: the factory reports it, and frees the objects with the last
// release.
func TestSourceEndsTheGoroutineOfAFactory(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		var reported []error
		handle := utilruntime.ErrorHandler(func(_ context.Context, err error, _ string, _ ...any) { reported = append(reported, err) })
		rig.ErrorHandler.Store(&handle)
		defer rig.ErrorHandler.Store(nil)
		f, exit := newShop(t), make(chan struct{})
		things, err := typed.Share(f.Factory, place("x"), func() source.Source[*rig.Thing] {
			return calling(func(_ context.Context, sink source.Sink[*rig.Thing]) error {
				sinktest.Replace(sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
				<-exit
				runtime.Goexit()
				return nil
			})
		})
		require.NoError(t, err)
		byName := index.Single("name", func(o *rig.Thing) (string, bool) { return o.Name, true })
		require.NoError(t, things.AddIndexes(byName))
		synctest.Wait()
		close(exit)
		synctest.Wait()
		assert.Len(t, byName.Get("a"), 1, "the last state stays")
		assert.Empty(t, f.Informers(), "it is not in use")
		require.Len(t, reported, 1)
		assert.ErrorContains(t, reported[0], "by runtime.Goexit")
		things.Release()
		assert.ErrorIs(t, panicOf(func() { byName.Get("a") }), index.ErrReleased)
	})
}

// TestErrorHandlerThatEndsItsGoroutine: the objects that are rejected before and after it are
// reported all the same.
func TestErrorHandlerThatEndsItsGoroutine(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		const objects = 10
		reported, goOn := 0, make(chan struct{})
		rig.CatchErrors(t, func(error) {
			<-goOn
			reported++
			runtime.Goexit()
		})
		r := rig.New(t, rejectPoison())
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("good", 1)}, "1")
		for n := range objects {
			sinktest.Put(r.Sink, poison(fmt.Sprint(n), n+2), "")
		}
		synctest.Wait()
		close(goOn)
		synctest.Wait()
		assert.Equal(t, objects, reported)
		sinktest.Put(r.Sink, poison("later", 20), "")
		synctest.Wait()
		assert.Equal(t, objects+1, reported)
	})
}
