package ctrlruntime_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
)

// TestCacheIsStartedAgain: the second Start of a cache returns an error, as controller-runtime's
// does, and ends nothing of the first one: kinds that come later begin.
func TestCacheIsStartedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newKindServer(t)
		require.NoError(t, srv.Create(t.Context(), newWidget("a", 1)))
		c, err := ctrlruntime.NewCache()(srv.config(), cache.Options{Scheme: withWidgets, ByObject: map[client.Object]cache.ByObject{
			&widget{}: {Label: labels.SelectorFromSet(labels.Set{"of": "test"})},
		}})
		require.NoError(t, err)
		ctx := runCacheFor(t, c, time.Hour)
		require.True(t, c.WaitForCacheSync(ctx))
		require.ErrorContains(t, c.Start(ctx), "already started")
		srv.served.Store(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		var widgets widgetList
		require.NoError(t, c.List(ctx, &widgets))
		assert.Len(t, widgets.Items, 1)
	})
}
