package typed_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRemoveDoesNotWait removes a handler that is running, one whose informer
// was not started, and one of an informer that has stopped.
func TestRemoveDoesNotWait(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		rec, idle, last := r.handle(), r.handle(), r.handle()
		idle.Remove()
		assert.True(t, isClosed(idle.Done()), "it was never called")
		hold := make(chan struct{})
		rec.before(func(string) { <-hold })
		r.run()
		r.sink.Replace([]*thing{at("a", 1), at("b", 2)}, "2")
		last.next()

		rec.Remove()
		rec.Remove()
		assert.Len(t, r.Status().Handlers, 1)
		assert.False(t, isClosed(rec.Done()), "it is running")
		close(hold)
		assert.Equal(t, []string{"initial a@1"}, rec.next(), "the call ends, and there is no other")
		assert.True(t, isClosed(rec.Done()))
		rec.Close()

		assert.False(t, isClosed(last.Done()))
		r.stop()
		last.next()
		assert.True(t, isClosed(last.Done()))
	})
}
