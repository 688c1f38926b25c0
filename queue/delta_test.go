package queue_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/queue"
)

func TestDeltaTypeNames(t *testing.T) {
	assert.Equal(t, "[Added Updated Deleted Replaced Bookmark Resync Removed NamespaceReplaced NamespaceRemoved Kept Unknown Unknown]", fmt.Sprint([]queue.DeltaType{
		queue.Added, queue.Updated, queue.Deleted, queue.Replaced, queue.Bookmark, queue.Resync,
		queue.Removed, queue.NamespaceReplaced, queue.NamespaceRemoved, queue.Kept, 0, 99,
	}))
}
