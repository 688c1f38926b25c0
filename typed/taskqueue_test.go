package typed_test

import (
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
)

// TestCallsBetweenEvents asks for calls while a handler is behind.
func TestCallsBetweenEvents(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		rec := &rig.Recorder{}
		reg, err := r.Handle(rec, typed.WithOnSynced(func() { rec.Note("synced") }))
		assert.NoError(t, err)
		hold := make(chan struct{})
		rec.Before(func(string) { <-hold })
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		sinktest.Put(r.Sink, rig.At("b", 2), "2")
		synctest.Wait()
		reg.After(func() { rec.Note("after b") })
		sinktest.Put(r.Sink, rig.At("c", 3), "3")
		synctest.Wait()
		reg.After(func() { rec.Note("after c") })
		reg.Resync()
		close(hold)
		calls := rec.Next()
		assert.Equal(t, []string{"initial a@1", "synced", "add b@2", "after b", "add c@3", "after c"}, calls[:6])
		assert.ElementsMatch(t, []string{"resync a@1", "resync b@2", "resync c@3"}, calls[6:])
		reg.After(func() { rec.Note("now") })
		assert.Equal(t, []string{"now"}, rec.Next(), "it need not wait for an event")
		reg.Close()
		reg.After(func() { rec.Note("never") })
		assert.Empty(t, rec.Next())
	})
}

// TestCallsAfterUnpublishedEvents asks for a call while an event is in the store, and not published.
func TestCallsAfterUnpublishedEvents(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		rec := &rig.Recorder{}
		reg, err := r.Handle(rec)
		assert.NoError(t, err)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		assert.Equal(t, []string{"initial a@1"}, rec.Next())
		_, err = r.Follow(&stepping{step: func() {
			assert.Equal(t, "2", r.ResourceVersion())
			go reg.After(func() { rec.Note("after b") })
			for range 1000 {
				runtime.Gosched()
			}
		}})
		assert.NoError(t, err)
		sinktest.Put(r.Sink, rig.At("b", 2), "2")
		assert.Equal(t, []string{"add b@2", "after b"}, rec.Next())
	})
}

// stepping is a Follower that calls a function in each step.
type stepping struct{ step func() }

func (*stepping) Begin(*index.Snapshot[*rig.Thing])        {}
func (f *stepping) Step([]typed.Event[*rig.Thing], string) { f.step() }
func (*stepping) Synced()                                  {}
func (*stepping) Report(error)                             {}
func (*stepping) End(error)                                {}
