package typed_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/report"
)

// An index function is called while the informer holds what Status waits for.
func TestPhaseDoesNotWait(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		var seen []report.Phase
		require.NoError(t, r.AddIndexes(index.Single("phase", func(*rig.Thing) (string, bool) {
			seen = append(seen, r.Phase())
			return "", false
		})))
		assert.Equal(t, report.PhaseNew, r.Phase())
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		r.Record().Next()
		sinktest.Put(r.Sink, rig.At("a", 2), "2")
		r.Record().Next()
		assert.Equal(t, []report.Phase{report.PhaseSyncing, report.PhaseSynced}, seen)
		r.Stop()
		r.Ended <- <-r.Ended
		assert.Equal(t, report.PhaseStopped, r.Phase())
	})
}

// TestStatusDoesNotWait calls what reads an informer from an index function, which
// is called while a batch of changes is stored.
func TestStatusDoesNotWait(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		var calls int
		read := func(obj *rig.Thing) (string, bool) {
			calls++
			status := r.Status()
			assert.Equal(t, r.Phase(), status.Phase)
			assert.Len(t, status.Handlers, 1)
			r.Get(index.KeyOf(obj))
			r.Snapshot()
			_ = r.ResourceVersion()
			return "", false
		}
		events := r.Record()
		require.NoError(t, r.AddIndexes(index.Single("changes", read)))
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		events.Next()
		sinktest.Put(r.Sink, rig.At("a", 2), "2")
		events.Next()
		require.NoError(t, r.AddIndexes(index.Single("fill", read)))
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 3)}, "3")
		events.Next()
		assert.Equal(t, 5, calls)
	})
}
