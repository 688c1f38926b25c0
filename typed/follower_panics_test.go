package typed_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
)

// brittle is a follower that panics in every call, once it is armed.
type brittle struct {
	followed
	armed bool
}

func (b *brittle) panics(what string) {
	if b.armed {
		panic(what)
	}
}

func (b *brittle) Step([]typed.Event[*rig.Thing], string) { b.panics("step") }
func (b *brittle) Synced()                                { b.panics("synced") }
func (b *brittle) Report(error)                           { b.panics("report") }
func (b *brittle) End(error)                              { b.panics("end") }

// TestFollowerPanicsLoseNothing: one of two followers panics in every call, with crashing disabled.
// Each panic is reported once; the store, the handlers and the other follower receive everything,
// and no object is blamed.
func TestFollowerPanicsLoseNothing(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
	var reported []any
	utilruntime.ReallyCrash = false
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, p any) { reported = append(reported, p) }}
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		rec := r.Record()
		bad, good := &brittle{}, &followed{}
		for _, f := range []typed.Follower[*rig.Thing]{bad, good} {
			_, err := r.Follow(f)
			require.NoError(t, err)
		}
		bad.armed = true
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		assert.Equal(t, []string{"initial a@1"}, rec.Next())
		assert.Contains(t, good.next(), "synced")
		assert.Contains(t, reported, any("synced"))

		reported = nil
		sinktest.Put(r.Sink, rig.At("b", 2), "2")
		assert.Equal(t, []string{"add b@2"}, rec.Next())
		assert.Len(t, good.next(), 1)
		assert.Equal(t, []any{"step"}, reported)
		assert.Nil(t, r.Rejected(rig.Key("b")), "the object is not to blame")
		_, ok := r.Get(rig.Key("b"))
		assert.True(t, ok)

		reported = nil
		sinktest.Bookmark(r.Sink, "3")
		synctest.Wait()
		assert.Equal(t, "3", r.ResourceVersion())
		assert.Len(t, good.next(), 1)
		assert.Equal(t, []any{"step"}, reported)

		reported = nil
		r.Sink.Report(errors.New("no contact"))
		synctest.Wait()
		assert.Equal(t, []any{"report"}, reported)
		assert.Contains(t, good.next(), "report no contact")
	})
}
