package queue_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/queue"
)

func TestDeltaTypeNames(t *testing.T) {
	assert.Equal(t, "[Put Delete Remove Replace Bookmark Unknown Unknown]", fmt.Sprint([]queue.DeltaType{
		queue.Put, queue.Delete, queue.Remove, queue.Replace, queue.Bookmark, 0, 99,
	}))
}
