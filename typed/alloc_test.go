package typed_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
)

// TestStepAllocates: a step of a source allocates its list and the changes in it, and nothing for
// waiters, handlers or observers if there are none.
func TestStepAllocates(t *testing.T) {
	r := rig.New(t)
	r.Start()
	sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
	applied := make(chan struct{}, 1)
	done := func() { applied <- struct{}{} }
	changes := []index.Change[*rig.Thing]{{Object: rig.At("a", 2)}}
	assert.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		r.Sink.Step(changes, "2", done)
		<-applied
	}), 2.0)
}
