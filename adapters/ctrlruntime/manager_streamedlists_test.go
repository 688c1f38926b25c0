package ctrlruntime_test

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/apitest"
)

// streamCounter is a transport that counts requests for streamed lists, and may have the server
// not hear of them.
type streamCounter struct {
	http.RoundTripper
	deaf bool

	mu    sync.Mutex
	asked int // guarded by mu
}

func (s *streamCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	if query.Has("sendInitialEvents") {
		s.mu.Lock()
		s.asked++
		s.mu.Unlock()
		if s.deaf {
			r = r.Clone(r.Context())
			query.Del("sendInitialEvents")
			query.Del("resourceVersionMatch")
			r.URL.RawQuery = query.Encode()
		}
	}
	return s.RoundTripper.RoundTrip(r)
}

// TestCacheOfStreamedListsThatDoNotEnd: a manager's cache syncs from a server that does not
// end streamed lists; and at once where there are no bookmarks to end them.
func TestCacheOfStreamedListsThatDoNotEnd(t *testing.T) {
	for name, opts := range map[string][]ctrlruntime.CacheOption{
		"plain": nil, "sharing": {ctrlruntime.WithDeduplication()}, "typed": {ctrlruntime.Typed[*corev1.Pod]()},
	} {
		for _, deaf := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv := apitest.Start(t)
					require.NoError(t, srv.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "a"}}))
					counter := &streamCounter{deaf: deaf}
					config := srv.Config()
					config.Wrap(func(base http.RoundTripper) http.RoundTripper {
						counter.RoundTripper = base
						return counter
					})
					c, err := ctrlruntime.NewCache(opts...)(config, cache.Options{DefaultEnableWatchBookmarks: new(deaf)})
					require.NoError(t, err)
					_, err = c.GetInformer(t.Context(), &corev1.Pod{}, cache.BlockUntilSynced(false))
					require.NoError(t, err)
					begin := time.Now()
					ctx := runCache(t, c)
					require.True(t, c.WaitForCacheSync(ctx))
					var pods corev1.PodList
					require.NoError(t, c.List(ctx, &pods))
					assert.Len(t, pods.Items, 1)
					if deaf {
						assert.LessOrEqual(t, time.Since(begin), 31*time.Second)
						assert.Equal(t, 1, counter.asked)
					} else {
						assert.Less(t, time.Since(begin), time.Second)
						assert.Zero(t, counter.asked, "no such list is asked for")
					}
				})
			})
		}
	}
}
