package source_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/internal/rig"
	"github.com/kubetyped/informer/typed/source"
)

// TestStepOfASinkThatIsNone reports the changes one by one, and the version with the last.
func TestStepOfASinkThatIsNone(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		done := 0
		script := rig.NewScript()
		mapped := source.Map[*rig.Thing](script, func(o *rig.Thing) *rig.Thing { return rig.On("mapped", o) })
		informer := typed.NewInformer(mapped)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- informer.Run(ctx) }()
		sink := <-script.Started
		_, is := sink.(source.Stepper[*rig.Thing])
		assert.False(t, is)
		sinktest.Replace(sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		source.Step(sink, []source.Change[*rig.Thing]{{Object: rig.At("b", 2)}, {Object: rig.At("a", 1), Deleted: true}}, "3", func() { done++ })
		synctest.Wait()
		assert.Equal(t, "[b@2]", fmt.Sprint(informer.List()))
		assert.Equal(t, "mapped", informer.List()[0].Node)
		assert.Equal(t, "3", informer.ResourceVersion())
		source.Step(sink, nil, "4", func() { done++ })
		source.Step(sink, nil, "5", nil)
		synctest.Wait()
		assert.Equal(t, "5", informer.ResourceVersion())
		assert.Equal(t, 2, done)
		seen := 0
		source.Step(sink, []source.Change[*rig.Thing]{{Object: rig.At("c", 6)}}, "6", func() { seen = informer.Len() })
		synctest.Wait()
		assert.Equal(t, 2, seen, "reads reflect it by then")
		cancel()
		assert.NoError(t, <-ended)
	})
}
