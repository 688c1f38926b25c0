package typed_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
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
