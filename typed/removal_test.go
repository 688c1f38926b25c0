package typed_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

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
