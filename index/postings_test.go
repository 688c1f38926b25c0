package index

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// TestRunsAreUsedAgain: the places of an object's index keys are used again when it gets
// others, however often that happens.
func TestRunsAreUsedAgain(t *testing.T) {
	s := newPostings[int]()
	s.add()
	for round := range 1000 {
		s.assign(0, []int{round, round + 1, round + 2}[:2+round%2])
	}
	assert.LessOrEqual(t, s.rest.n, uint32(16))
}

// TestPlacesFitRegisters: see places.
func TestPlacesFitRegisters(t *testing.T) {
	assert.LessOrEqual(t, unsafe.Sizeof(places{}), uintptr(32))
}
