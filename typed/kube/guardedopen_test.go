package kube

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// TestStreamedListThatEndsWhileItIsOpened: a watch whose response has ended before the watch is
// returned was opened nevertheless, and is no request that failed.
func TestStreamedListThatEndsWhileItIsOpened(t *testing.T) {
	t.Parallel()
	ended := watch.NewEmptyWatch()
	guarded := GuardListerWatcher(&cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
		list := streamedListOf(ctx)
		list.taken = true
		list.release()
		<-ctx.Done()
		return ended, nil
	}}, func(error) {})
	defer guarded.Wait()
	w, err := guarded.WatchWithContext(t.Context(), metav1.ListOptions{SendInitialEvents: new(true)})
	require.NoError(t, err)
	assert.Equal(t, ended, w)
}
