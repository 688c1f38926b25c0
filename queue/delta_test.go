package queue_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/queue"
)

func TestDeltaTypeNames(t *testing.T) {
	assert.Equal(t, "[Put Delete Remove Replace Bookmark Unknown Unknown]", fmt.Sprint([]queue.DeltaType{
		queue.Put, queue.Delete, queue.Remove, queue.Replace, queue.Bookmark, 0, 99,
	}))
}

// TestADeltaIsSmall: many of them wait in a queue, and are copied into it and out of it.
func TestADeltaIsSmall(t *testing.T) {
	assert.LessOrEqual(t, unsafe.Sizeof(queue.Delta[*int]{}), uintptr(64))
}
