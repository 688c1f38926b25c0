package typed_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// An index function is called while the informer holds what Status waits for.
func TestPhaseDoesNotWait(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		var seen []typed.Phase
		require.NoError(t, r.AddIndexes(index.Single("phase", func(*thing) (string, bool) {
			seen = append(seen, r.Phase())
			return "", false
		})))
		assert.Equal(t, typed.PhaseNew, r.Phase())
		r.run()
		r.sink.Replace([]*thing{at("a", 1)}, "1")
		r.handle().next()
		r.sink.Update(at("a", 2), "2")
		r.handle().next()
		assert.Equal(t, []typed.Phase{typed.PhaseSyncing, typed.PhaseSynced}, seen)
		r.stop()
		r.ended <- <-r.ended
		assert.Equal(t, typed.PhaseStopped, r.Phase())
	})
}
