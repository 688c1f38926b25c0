package goroutine

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func hangs(number chan<- uint64, until <-chan struct{}) {
	number <- ID()
	<-until
}

func TestStack(t *testing.T) {
	number, until := make(chan uint64), make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { hangs(number, until) })
	id := <-number
	assert.NotEqual(t, ID(), id)
	assert.Contains(t, Stack(id), "goroutine.hangs(")
	assert.NotContains(t, Stack(id), "TestStack(", "it is the stack of one goroutine")
	assert.Contains(t, Stack(ID()), "TestStack(")
	close(until)
	running.Wait()
	for Stack(id) != "" { // it is about to end
	}
	assert.Empty(t, Stack(0), "no goroutine has this number")
}

// TestStackOfManyGoroutines: a stack is found behind those of many others.
func TestStackOfManyGoroutines(t *testing.T) {
	number, until := make(chan uint64), make(chan struct{})
	var running sync.WaitGroup
	defer running.Wait()
	defer close(until)
	var ids []uint64
	for range 1000 {
		running.Go(func() { hangs(number, until) })
		ids = append(ids, <-number)
	}
	for _, id := range []uint64{ids[0], ids[500], ids[999]} {
		assert.Contains(t, Stack(id), "goroutine.hangs(")
	}
}
