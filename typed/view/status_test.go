package view_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/view"
)

// TestStatusCountsAllFailures, of which it lists the first ones.
func TestStatusCountsAllFailures(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		set := view.NewSet[*rig.Thing]()
		for n := range 25 {
			set.Put(rig.At(fmt.Sprintf("a%02d", n), 1))
		}
		v := view.Map(set.View(), func(*rig.Thing) row { panic("not this one") })
		start(t, v)
		status, err := v.Status(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 25, status.Failing)
		require.Len(t, status.Failures, 20)
		assert.Equal(t, rig.Key("a00"), status.Failures[0].Key)
		assert.Equal(t, rig.Key("a19"), status.Failures[19].Key)
	})
}

// TestStatusCountsObjects that are there: one that comes and goes while a step is computed is
// not, nor is it counted off.
func TestStatusCountsObjects(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		set := named("a")
		v := view.Map(set.View(), slowly)
		start(t, v)
		set.Put(rig.On("x", rig.At("a", 2)))
		synctest.Wait() // it is being computed
		set.Put(rig.On("x", rig.At("b", 1)))
		set.Delete(rig.Key("b"))
		time.Sleep(time.Minute)
		status, err := v.Status(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 1, status.Stages[0].Objects)
	})
}
