package kube_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// queries are those of requests for Pods.
type queries struct {
	mu  sync.Mutex
	all []url.Values
}

func (q *queries) config(srv *apitest.Server) *rest.Config {
	config := srv.Config()
	config.Wrap(func(base http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) {
			if request.URL.Path == "/api/v1/pods" {
				q.mu.Lock()
				q.all = append(q.all, request.URL.Query())
				q.mu.Unlock()
			}
			return base.RoundTrip(request)
		})
	})
	return config
}

// asked returns what an informer with these options has asked for when it watches.
func asked(t *testing.T, opts ...kube.SourceOption) []url.Values {
	t.Helper()
	srv, _ := rig.Serve(t, 5)
	q := &queries{}
	pods := typed.NewInformer(kube.FromREST[*corev1.Pod](q.config(srv), opts...))
	ctx := rig.Start(t, pods)
	require.NoError(t, pods.WaitForSync(ctx))
	require.NoError(t, srv.WaitForWatches(ctx, "pods", 1))
	require.Equal(t, 5, pods.Len())
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.all
}

// TestWithPageSize: pages have no more objects, and lists are consistent.
func TestWithPageSize(t *testing.T) {
	all := asked(t, kube.WithoutWatchList(), kube.WithPageSize(2))
	require.Len(t, all, 4, "three pages and a watch")
	for i, query := range all[:3] {
		assert.Equal(t, "2", query.Get("limit"))
		assert.Empty(t, query.Get("resourceVersion"))
		assert.Equal(t, i > 0, query.Get("continue") != "")
	}
	all = asked(t, kube.WithoutWatchList())
	require.Len(t, all, 2, "by default, one list and a watch")
}

// TestWithConsistentLists: the first list, streamed or not, is of the latest state.
func TestWithConsistentLists(t *testing.T) {
	assert.Equal(t, "0", asked(t, kube.WithoutWatchList())[0].Get("resourceVersion"), "by default, that of the cache")
	for name, opts := range map[string][]kube.SourceOption{"streamed": nil, "listed": {kube.WithoutWatchList()}} {
		first := asked(t, append(opts, kube.WithConsistentLists())...)[0]
		assert.Empty(t, first.Get("resourceVersion"), name)
		assert.Equal(t, name == "streamed", first.Get("sendInitialEvents") == "true", name)
	}
}

// TestConsistentRelist: so is one that follows.
func TestConsistentRelist(t *testing.T) {
	for _, opts := range [][]kube.SourceOption{{kube.WithoutWatchList()}, nil} {
		srv, _ := rig.Serve(t, 1)
		q := &queries{}
		pods := typed.NewInformer(kube.FromREST[*corev1.Pod](q.config(srv), append(opts, kube.WithConsistentLists(), quickly)...))
		ctx := rig.Start(t, pods)
		require.NoError(t, pods.WaitForSync(ctx))
		require.NoError(t, srv.WaitForWatches(ctx, "pods", 1))
		srv.Inject(apitest.Fault{Resource: "pods", Open: true, Err: apierrors.NewResourceExpired("too old")})
		require.NoError(t, srv.WaitForWatches(ctx, "pods", 1))
		q.mu.Lock()
		for _, query := range q.all {
			if query.Get("watch") == "" || query.Get("sendInitialEvents") != "" {
				assert.Empty(t, query.Get("resourceVersion"))
			}
		}
		q.mu.Unlock()
	}
}

// TestWithWatchTimeout: watches are asked for with a random time.
func TestWithWatchTimeout(t *testing.T) {
	for name, opts := range map[string][]kube.SourceOption{"streamed": nil, "listed": {kube.WithoutWatchList()}} {
		all := asked(t, append(opts, kube.WithWatchTimeout(100*time.Second))...)
		var seconds int
		_, err := fmt.Sscan(all[len(all)-1].Get("timeoutSeconds"), &seconds)
		require.NoError(t, err, name)
		assert.GreaterOrEqual(t, seconds, 100, name)
		assert.LessOrEqual(t, seconds, 200, name)
	}
}

// TestWithListTimeout: a list that takes too long fails, and is made again.
func TestWithListTimeout(t *testing.T) {
	srv, _ := rig.Serve(t, 1)
	srv.Inject(apitest.Fault{Verb: "list", Resource: "pods", Times: 1, Way: apitest.Requests, Latency: time.Hour})
	var failure error
	pods := typed.NewInformer(
		kube.FromREST[*corev1.Pod](srv.Config(), kube.WithoutWatchList(), kube.WithListTimeout(50*time.Millisecond), kube.WithBackoff(8, 8)),
		typed.WithOnError(func(err error) error { failure = err; return nil }))
	ctx := rig.Start(t, pods)
	require.NoError(t, pods.WaitForSync(ctx))
	assert.ErrorIs(t, failure, context.DeadlineExceeded)
	assert.ErrorContains(t, failure, "the list takes longer than 50ms, see WithListTimeout")
	assert.Equal(t, 2, srv.Requests("list", "pods"))
}

// TestWithBackoff: waits are no longer than the options allow.
func TestWithBackoff(t *testing.T) {
	for name, failure := range map[string]error{"refused": apierrors.NewInternalError(http.ErrAbortHandler), "unreachable": errRefused} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				server := newBrittle()
				server.fail(failure)
				informer := typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](server, kube.WithBackoff(time.Second, 2*time.Second)))
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- informer.Run(ctx) }()
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				_, _, tries := server.counts()
				assert.Greater(t, tries, 400, "a second on average")
				cancel()
				require.NoError(t, <-ended)
			})
		})
	}
}

// TestRequestOptionsAreChecked: errors say what to give.
func TestRequestOptionsAreChecked(t *testing.T) {
	config := apitest.Start(t).Config()
	for message, opt := range map[string]kube.SourceOption{
		"WithPageSize: pages of 0 objects; give 1 or more, or leave the option out for lists without pages":                   kube.WithPageSize(0),
		"WithListTimeout: the time is 0s; give one that is longer than a list takes":                                          kube.WithListTimeout(0),
		"WithWatchTimeout: the time is 1ms; give one second or more":                                                          kube.WithWatchTimeout(time.Millisecond),
		"WithBackoff: the first limit is 0s and the longest 1s; the first has to be positive, and no longer than the longest": kube.WithBackoff(0, time.Second),
		"WithBackoff: the first limit is 2s and the longest 1s; the first has to be positive, and no longer than the longest": kube.WithBackoff(2*time.Second, time.Second),
	} {
		err := typed.NewInformer(kube.FromREST[*corev1.Pod](config, opt)).Run(t.Context())
		assert.ErrorContains(t, err, message)
	}
	for _, opt := range []kube.SourceOption{kube.WithPageSize(1), kube.WithConsistentLists(), kube.WithListTimeout(1), kube.WithWatchTimeout(time.Second), kube.WithBackoff(8, 8)} {
		_, err := kube.NewWriter[*corev1.Pod](config, opt)
		assert.ErrorContains(t, err, "for what lists and watches, and a writer does neither")
	}
	f := kube.NewFactory(config)
	defer f.Shutdown()
	first, err := kube.For[*corev1.Pod](f)
	require.NoError(t, err)
	defer first.Release()
	second, err := kube.For[*corev1.Pod](f, kube.WithPageSize(10))
	require.NoError(t, err)
	defer second.Release()
	assert.Len(t, f.Status(), 2, "sources that ask in other ways are not shared")
}
