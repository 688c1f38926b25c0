package typed_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/observer"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/report"
)

// TestRemoveDoesNotWait removes a handler that is running, one whose informer
// was not started, and one of an informer that has stopped.
func TestRemoveDoesNotWait(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		rec, idle, last := r.Record(), r.Record(), r.Record()
		idle.Remove()
		assert.True(t, rig.IsClosed(idle.Done()), "it was never called")
		hold := make(chan struct{})
		rec.Before(func(string) { <-hold })
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 2)}, "2")
		last.Next()

		rec.Remove()
		rec.Remove()
		assert.Len(t, r.Status().Handlers, 1)
		assert.False(t, rig.IsClosed(rec.Done()), "it is running")
		close(hold)
		assert.Equal(t, []string{"initial a@1"}, rec.Next(), "the call ends, and there is no other")
		assert.True(t, rig.IsClosed(rec.Done()))
		rec.Close()

		assert.False(t, rig.IsClosed(last.Done()))
		r.Stop()
		last.Next()
		assert.True(t, rig.IsClosed(last.Done()))
	})
}

// TestReleaseWaitsForARemovedHandler: Release of a SharedInformer waits for a call of a handler that
// was removed before, although another handler was added since.
func TestReleaseWaitsForARemovedHandler(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		l := f.share("x")
		hold, released := make(chan struct{}), make(chan struct{})
		readable := false
		rec := &rig.Recorder{Hook: func(string) {
			<-hold
			readable = l.Err() == nil
		}}
		registration, err := l.Handle(rec)
		require.NoError(t, err)
		sinktest.Replace(f.sink(), "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait() // the handler is running
		registration.Remove()
		_, err = l.Handle(&rig.Recorder{})
		require.NoError(t, err)
		go func() {
			defer close(released)
			l.Release()
		}()
		synctest.Wait()
		assert.False(t, rig.IsClosed(released), "the handler is running")
		close(hold)
		<-released
		assert.True(t, readable, "a handler that Release waits for can read")
	})
}

// TestRemovedByATask: a handler that was removed on its own goroutine between two calls, by After or
// WithOnSynced, is not called again, for events of the same batch included, nor is another task run.
func TestRemovedByATask(t *testing.T) {
	for _, policy := range []typed.Delivery{typed.EveryEvent(), typed.Coalesce(), typed.Block(2)} {
		t.Run("after "+policy.String(), func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				r := rig.New(t)
				rec := r.Record(typed.WithDelivery(policy))
				r.Start()
				hold, last := make(chan struct{}), false
				rec.Before(func(string) { <-hold })
				for i, name := range []string{"a", "b", "c"} {
					if i == 2 {
						rec.After(rec.Close)
						rec.Resync()
						rec.After(func() { last = true })
					}
					sinktest.Put(r.Sink, rig.At(name, i+1), "")
					synctest.Wait()
				}
				close(hold)
				assert.Equal(t, []string{"add a@1", "add b@2"}, rec.Next())
				assert.False(t, last)
				assert.True(t, rig.IsClosed(rec.Done()))
			})
		})
		t.Run("when synced "+policy.String(), func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				r := rig.New(t)
				r.Start()
				sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
				synctest.Wait()
				hold := make(chan struct{})
				rec := &rig.Recorder{Hook: func(string) { <-hold }}
				var err error
				rec.Registration, err = r.Handle(rec, typed.WithDelivery(policy), typed.WithOnSynced(func() { rec.Close() }))
				require.NoError(t, err)
				sinktest.Put(r.Sink, rig.At("b", 2), "2")
				synctest.Wait()
				close(hold)
				assert.Equal(t, []string{"initial a@1"}, rec.Next())
				assert.True(t, rig.IsClosed(rec.Done()))
			})
		})
	}
}

// TestRemovedBeforeItsFirstCall: a late handler that is removed before its goroutine has called it
// receives no object.
func TestRemovedBeforeItsFirstCall(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		hold := make(chan struct{})
		r := rig.New(t, typed.WithObserver(observer.Of(observer.Hooks{Handler: func(string) observer.HandlerHooks {
			<-hold
			return observer.HandlerHooks{
				Begin: func(index.EventType, index.Key) {}, End: func() {}, Idle: func() {}, Left: func() {}, Status: func(*report.Handler) {},
			}
		}})))
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		rec := r.Record()
		rec.Remove()
		close(hold)
		assert.Empty(t, rec.Next())
		assert.True(t, rig.IsClosed(rec.Done()))
	})
}
