package typed_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
)

func TestInCallback(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		other := typed.NewInformer[*rig.Thing](rig.NewScript())
		var inHandler, inIndex, ofOther bool
		_, err := r.Handle(typed.HandlerFuncs[*rig.Thing]{AddFunc: func(*rig.Thing, bool) {
			inHandler, ofOther = r.InCallback(), other.InCallback()
		}})
		require.NoError(t, err)
		require.NoError(t, r.AddIndexes(index.Single("i", func(*rig.Thing) (string, bool) {
			inIndex = r.InCallback()
			return "", false
		})))
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		assert.True(t, inHandler)
		assert.True(t, inIndex)
		assert.False(t, ofOther)
		assert.False(t, r.InCallback())
	})
}
