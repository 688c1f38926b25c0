package ctrlruntime

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestReadsDoNotWaitForAttaching: a deferred informer that is being attached asks the cache of the
// manager, which must not wait for it in turn.
func TestReadsDoNotWaitForAttaching(t *testing.T) {
	t.Parallel()
	of := kindOf{kind: schema.GroupVersionKind{Version: "v1", Kind: "Widget"}}
	attaching := &deferredInformer{}
	c := &managerCache{deferred: map[kindOf]*deferredInformer{of: attaching}}
	attaching.mu.Lock()
	defer attaching.mu.Unlock()
	looked := make(chan []schema.GroupVersionKind)
	go func() { looked <- Waiting(c) }()
	select {
	case waiting := <-looked:
		assert.Equal(t, []schema.GroupVersionKind{of.kind}, waiting)
	case <-time.After(10 * time.Second):
		t.Fatal("it waits")
	}
}
