package typed_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/typed"
)

// TestCallsBetweenEvents asks for calls while a handler is behind.
func TestCallsBetweenEvents(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		rec := &recorder{}
		reg, err := r.Handle(rec, typed.WithOnSynced(func() { rec.record("synced") }))
		assert.NoError(t, err)
		hold := make(chan struct{})
		rec.before(func(string) { <-hold })
		r.run()
		r.sink.Replace([]*thing{at("a", 1)}, "1")
		r.sink.Add(at("b", 2), "2")
		synctest.Wait()
		reg.After(func() { rec.record("after b") })
		r.sink.Add(at("c", 3), "3")
		synctest.Wait()
		reg.After(func() { rec.record("after c") })
		reg.Resync()
		close(hold)
		calls := rec.next()
		assert.Equal(t, []string{"initial a@1", "synced", "add b@2", "after b", "add c@3", "after c"}, calls[:6])
		assert.ElementsMatch(t, []string{"resync a@1", "resync b@2", "resync c@3"}, calls[6:])
		reg.After(func() { rec.record("now") })
		assert.Equal(t, []string{"now"}, rec.next(), "it need not wait for an event")
		reg.Close()
		reg.After(func() { rec.record("never") })
		assert.Empty(t, rec.next())
	})
}
