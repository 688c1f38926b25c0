package typed_test

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
)

// TestGoroutines counts what Run starts: a goroutine for the store, and one for each
// handler.
func TestGoroutines(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		before := goroutinesOfBubbles()
		r := rig.New(t)
		r.Record()
		r.Record()
		assert.Equal(t, before, goroutinesOfBubbles())
		r.Start() // calls Run on its own goroutine
		r.Record()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		assert.Equal(t, before+1+1+3, goroutinesOfBubbles())
	})
}

// goroutinesOfBubbles counts the goroutines of the tests that run in a bubble.
func goroutinesOfBubbles() int {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Count(string(stacks), ", synctest bubble ")
}
