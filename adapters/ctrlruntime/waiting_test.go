package ctrlruntime_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
)

// TestWaitingForRemovedInformers: a kind that has gone waits no more when its informer is removed;
// reads still return an error, and find its objects when it is back.
func TestWaitingForRemovedInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newKindServer(t)
		srv.served.Store(true)
		require.NoError(t, srv.Create(t.Context(), newWidget("a", 1)))
		c, err := ctrlruntime.NewCache()(srv.config(), cache.Options{Scheme: withWidgets})
		require.NoError(t, err)
		ctx := runCacheFor(t, c, time.Hour)
		waiting := func() []schema.GroupVersionKind {
			_, err := c.GetInformer(ctx, &widget{})
			require.NoError(t, err)
			srv.served.Store(false)
			srv.breakWatches()
			time.Sleep(time.Minute)
			synctest.Wait()
			return ctrlruntime.Waiting(c)
		}
		require.Equal(t, []schema.GroupVersionKind{widgetKind}, waiting())

		require.NoError(t, c.RemoveInformer(ctx, &widget{}))
		assert.Nil(t, ctrlruntime.Waiting(c))
		var widgets widgetList
		assert.True(t, meta.IsNoMatchError(c.List(ctx, &widgets)))

		srv.served.Store(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.NoError(t, c.List(ctx, &widgets))
		assert.Len(t, widgets.Items, 1)
		assert.Equal(t, []schema.GroupVersionKind{widgetKind}, waiting(), "there is an informer again")
	})
}
