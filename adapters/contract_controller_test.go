package adapters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// GetController is a view: it runs nothing.
func TestContractController(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		c := r.GetController()
		c.Run(nil) // returns at once
		c.RunWithContext(t.Context())
		assert.Empty(t, r.script.listCalls())
		assert.False(t, c.HasSynced())
		assert.Empty(t, c.LastSyncResourceVersion())

		r.run()
		assert.True(t, c.HasSynced())
		assert.Equal(t, "10", c.LastSyncResourceVersion())
		assert.Equal(t, r.HasSyncedChecker().Name(), c.HasSyncedChecker().Name())
		assert.Equal(t, r.HasSyncedChecker().Done(), c.HasSyncedChecker().Done())
		r.send(added(pod("a", "11")))
		assert.Equal(t, "11", c.LastSyncResourceVersion())
		assert.Equal(t, "11", r.GetController().LastSyncResourceVersion())

		r.halt()
		assert.True(t, c.HasSynced())
		assert.Equal(t, "11", c.LastSyncResourceVersion())
	})
}
