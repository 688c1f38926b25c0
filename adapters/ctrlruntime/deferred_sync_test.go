package ctrlruntime_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
)

// TestInformerOfAKindThatCame: GetInformer waits for the first list of a kind that the server
// did not have at first, as for that of others, unless it is not to block.
func TestInformerOfAKindThatCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newKindServer(t)
		require.NoError(t, srv.Create(t.Context(), newWidget("a", 1)))
		config := srv.config()
		config.Wrap(func(base http.RoundTripper) http.RoundTripper {
			return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.URL.Path, "/widgets") && r.URL.Query().Get("limit") != "1" {
					time.Sleep(time.Minute)
				}
				return base.RoundTrip(r)
			})
		})
		c, err := ctrlruntime.NewCache()(config, cache.Options{Scheme: withWidgets})
		require.NoError(t, err)
		informer, err := c.GetInformer(t.Context(), &widget{})
		require.NoError(t, err, "of a kind that is not there yet")
		ctx := runCacheFor(t, c, time.Hour)
		srv.served.Store(true)
		for len(ctrlruntime.Waiting(c)) > 0 {
			time.Sleep(time.Second)
		}
		assert.False(t, informer.HasSynced())
		again, err := c.GetInformer(ctx, &widget{}, cache.BlockUntilSynced(false))
		require.NoError(t, err)
		assert.False(t, again.HasSynced())
		again, err = c.GetInformer(ctx, &widget{})
		require.NoError(t, err)
		assert.True(t, again.HasSynced())
		assert.Same(t, informer, again)
	})
}
