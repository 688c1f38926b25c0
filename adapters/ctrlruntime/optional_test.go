package ctrlruntime_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
)

// TestOptional: a kind that may not be listed keeps no cache from syncing if it is optional,
// and does so otherwise. Reads return the error of the server; its informer begins when it
// may list, and keeps its objects when it may not any more.
func TestOptional(t *testing.T) {
	for name, opts := range map[string][]ctrlruntime.CacheOption{
		"optional": {ctrlruntime.Optional(&widget{})},
		"not":      nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := newKindServer(t)
				srv.served.Store(true)
				require.NoError(t, srv.Create(t.Context(), newWidget("a", 1)))
				var forbidden atomic.Bool
				forbidden.Store(true)
				config := srv.config()
				config.Wrap(func(base http.RoundTripper) http.RoundTripper {
					return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
						if forbidden.Load() && strings.HasSuffix(r.URL.Path, "/widgets") {
							return &http.Response{StatusCode: http.StatusForbidden, Body: http.NoBody, Header: http.Header{}}, nil
						}
						return base.RoundTrip(r)
					})
				})
				c, err := ctrlruntime.NewCache(opts...)(config, cache.Options{Scheme: withWidgets})
				require.NoError(t, err)
				informer, err := c.GetInformer(t.Context(), &widget{}, cache.BlockUntilSynced(false))
				require.NoError(t, err)
				ctx := runCacheFor(t, c, time.Hour)
				time.Sleep(time.Minute)
				synctest.Wait()
				if opts == nil {
					assert.False(t, informer.HasSynced())
					assert.Empty(t, ctrlruntime.Waiting(c))
					return
				}
				assert.True(t, informer.HasSynced())
				assert.Equal(t, []schema.GroupVersionKind{widgetKind}, ctrlruntime.Waiting(c))
				var widgets widgetList
				assert.True(t, apierrors.IsForbidden(c.List(ctx, &widgets)))

				forbidden.Store(false)
				time.Sleep(13 * time.Second)
				synctest.Wait()
				assert.Empty(t, ctrlruntime.Waiting(c))
				require.NoError(t, c.List(ctx, &widgets))
				assert.Len(t, widgets.Items, 1)

				forbidden.Store(true)
				srv.breakWatches()
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				require.NoError(t, c.List(ctx, &widgets))
				assert.Len(t, widgets.Items, 1, "it has been forbidden since")
			})
		})
	}
	_, err := ctrlruntime.NewCache(ctrlruntime.Optional(nil))(newKindServer(t).config(), cache.Options{})
	assert.ErrorContains(t, err, "Optional: the example is nil")
	_, err = ctrlruntime.NewCache(ctrlruntime.Optional(&widget{}))(newKindServer(t).config(), cache.Options{})
	assert.ErrorContains(t, err, "Optional: ")
}

// TestOptionalInNamespaces: an optional kind of a cache that is limited to some namespaces begins
// when it may be listed in these, whether the server had it before or not. There is no right to
// list all namespaces.
func TestOptionalInNamespaces(t *testing.T) {
	selected := map[client.Object]cache.ByObject{&widget{}: {Field: fields.OneTermEqualSelector("metadata.namespace", "one")}}
	named := map[client.Object]cache.ByObject{&widget{}: {Namespaces: map[string]cache.Config{"one": {}}}}
	for name, o := range map[string]cache.Options{
		"default":  {DefaultNamespaces: map[string]cache.Config{"one": {}, "two": {}}},
		"named":    {DefaultNamespaces: map[string]cache.Config{"three": {}}, ByObject: named},
		"selected": {ByObject: selected},
	} {
		for _, served := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, served %v", name, served), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testOptionalInNamespaces(t, o, served) })
			})
		}
	}
}

func testOptionalInNamespaces(t *testing.T, o cache.Options, served bool) {
	srv := newKindServer(t)
	srv.served.Store(served)
	require.NoError(t, srv.Create(t.Context(), newWidget("a", 1)))
	var allowed atomic.Bool
	config := srv.config()
	config.Wrap(func(base http.RoundTripper) http.RoundTripper {
		return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
			of, asksFor := strings.CutSuffix(r.URL.Path, "/widgets")
			inOne, inTwo := strings.HasSuffix(of, "/namespaces/one"), strings.HasSuffix(of, "/namespaces/two")
			if asksFor && !(allowed.Load() && (inOne || inTwo)) {
				return &http.Response{StatusCode: http.StatusForbidden, Body: http.NoBody, Header: http.Header{}}, nil
			}
			if query := r.URL.Query(); query.Get("limit") == "1" {
				assert.Empty(t, query.Get("resourceVersion"), "at version 0, servers ignore the limit")
			}
			return base.RoundTrip(r)
		})
	})
	o.Scheme = withWidgets
	c, err := ctrlruntime.NewCache(ctrlruntime.Optional(&widget{}))(config, o)
	require.NoError(t, err)
	_, err = c.GetInformer(t.Context(), &widget{}, cache.BlockUntilSynced(false))
	require.NoError(t, err)
	ctx := runCacheFor(t, c, time.Hour)
	time.Sleep(time.Minute)
	srv.served.Store(true)
	time.Sleep(time.Minute)
	synctest.Wait()
	assert.Equal(t, []schema.GroupVersionKind{widgetKind}, ctrlruntime.Waiting(c))

	allowed.Store(true)
	time.Sleep(13 * time.Second)
	synctest.Wait()
	assert.Empty(t, ctrlruntime.Waiting(c))
	var widgets widgetList
	require.NoError(t, c.List(ctx, &widgets))
	assert.Len(t, widgets.Items, 1)
}
