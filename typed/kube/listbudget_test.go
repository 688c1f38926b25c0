package kube_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// gate holds up requests that begin a list.
type gate struct {
	mu    sync.Mutex
	begun []string // paths, in order
	pass  chan struct{}
}

func (g *gate) config(srv *apitest.Server) *rest.Config {
	config := srv.Config()
	config.Wrap(func(base http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) {
			query := request.URL.Query()
			if !strings.HasPrefix(request.URL.Path, "/api/v1/") || query.Get("watch") != "" && query.Get("sendInitialEvents") == "" {
				return base.RoundTrip(request)
			}
			g.mu.Lock()
			g.begun = append(g.begun, request.URL.Path)
			g.mu.Unlock()
			select {
			case <-g.pass:
				return base.RoundTrip(request)
			case <-request.Context().Done():
				return nil, request.Context().Err()
			}
		})
	})
	return config
}

// lists returns how many lists have begun, when nothing more happens by itself.
func (g *gate) lists() int {
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.begun)
}

// listBytes is what a list counts.
func listBytes() int64 { return int64(4<<20 + runtime.GOMAXPROCS(0)*256<<10) }

// startThree starts informers of three resources, one after the other, whose lists share a
// budget.
func startThree(ctx context.Context, t *testing.T, g *gate, opts ...kube.ForOption) *kube.Factory {
	t.Helper()
	srv := apitest.Start(t)
	f := kube.NewFactory(g.config(srv), opts...)
	t.Cleanup(f.Shutdown)
	for _, resource := range []string{"pods", "configmaps", "secrets"} {
		start(t, f, resource)
		synctest.Wait()
	}
	return f
}

// start starts an informer of the metadata of a resource.
func start(t *testing.T, f *kube.Factory, resource string) *typed.SharedInformer[*metav1.PartialObjectMetadata] {
	t.Helper()
	objects, err := kube.For[*metav1.PartialObjectMetadata](f, kube.WithResource(corev1.SchemeGroupVersion.WithResource(resource)))
	require.NoError(t, err)
	return objects
}

// TestWithListBudget: no more lists run at once than the budget has room for, whether they are
// streamed or not.
func TestWithListBudget(t *testing.T) {
	for name, c := range map[string]struct {
		opts []kube.ForOption
		room int
	}{
		"none":                  {nil, 3},
		"less than a list":      {[]kube.ForOption{kube.WithListBudget(kube.NewListBudget(1))}, 1},
		"one at a time, listed": {[]kube.ForOption{kube.WithListBudget(kube.NewListBudget(2*listBytes() - 1)), kube.WithoutWatchList()}, 1},
		"two at a time":         {[]kube.ForOption{kube.WithListBudget(kube.NewListBudget(2 * listBytes()))}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &gate{pass: make(chan struct{})}
				f := startThree(t.Context(), t, g, c.opts...)
				for passed := range 3 {
					assert.Equal(t, min(3, c.room+passed), g.lists())
					g.pass <- struct{}{}
				}
				require.NoError(t, f.WaitForSync(t.Context()))
				assert.Equal(t, []string{"/api/v1/pods", "/api/v1/configmaps", "/api/v1/secrets"}, g.begun, "the first first")
				f.Shutdown()
			})
		})
	}
}

// TestListsWithoutAnAnswerHoldUpNoOther: a list that brings nothing is not counted after
// a time, and those that wait say so before.
func TestListsWithoutAnAnswerHoldUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{pass: make(chan struct{})}
		f := startThree(t.Context(), t, g, kube.WithListBudget(kube.NewListBudget(0)))
		require.Equal(t, 1, g.lists())

		time.Sleep(11 * time.Second)
		waiting, cancel := context.WithCancel(t.Context())
		cancel()
		assert.ErrorContains(t, f.WaitForSync(waiting), fmt.Sprintf("the list has waited 10s for others of its budget of %d MiB, see WithListBudget", listBytes()>>20))
		assert.Equal(t, 1, g.lists())
		time.Sleep(20 * time.Second)
		assert.Equal(t, 2, g.lists())
		time.Sleep(30 * time.Second)
		assert.Equal(t, 3, g.lists())
		f.Shutdown()
	})
}

// TestSlowListsKeepTheirTurn: a list is counted for as long as it brings objects, in
// whatever way they come.
func TestSlowListsKeepTheirTurn(t *testing.T) {
	for name, c := range map[string]struct {
		opt           kube.ForOption
		objects, size int
	}{
		"streamed":           {kube.WithInformerOptions(), 2000, 0},
		"listed":             {kube.WithoutWatchList(), 2000, 0},
		"large ones, listed": {kube.WithoutWatchList(), 20, 16 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := apitest.Start(t)
				for i := range c.objects {
					pod := tolerant(fmt.Sprint("pod-", i))
					pod.Annotations = map[string]string{"text": strings.Repeat("x", c.size)}
					require.NoError(t, srv.Create(t.Context(), pod))
				}
				srv.Inject(apitest.Fault{Resource: "pods", Bandwidth: 4 << 10})
				f := kube.NewFactory(srv.Config(), kube.WithListBudget(kube.NewListBudget(0)), c.opt)
				_, err := kube.For[*corev1.Pod](f)
				require.NoError(t, err)
				synctest.Wait()
				begin := time.Now()
				require.NoError(t, start(t, f, "configmaps").WaitForSync(t.Context()))
				assert.Greater(t, time.Since(begin), time.Minute, "the list of Pods takes as long")
				f.Shutdown()
			})
		})
	}
}

// TestFailedListsGiveTheirTurnBack: the next list does not wait for the back-off of one
// that was refused.
func TestFailedListsGiveTheirTurnBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t)
		srv.Inject(apitest.Fault{Verb: "list", Resource: "pods", Err: apierrors.NewTooManyRequests("later", 0)})
		budget := kube.WithListBudget(kube.NewListBudget(0))
		pods := typed.NewInformer(kube.FromREST[*corev1.Pod](srv.Config(), budget, kube.WithoutWatchList()))
		maps := typed.NewInformer(kube.FromREST[*metav1.PartialObjectMetadata](srv.Config(), budget, kube.WithoutWatchList(), kube.WithResource(configMapResource)))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { assert.NoError(t, pods.Run(ctx)) })
		synctest.Wait()
		running.Go(func() { assert.NoError(t, maps.Run(ctx)) })
		begin := time.Now()
		require.NoError(t, maps.WaitForSync(ctx))
		assert.Zero(t, time.Since(begin))
		cancel()
		running.Wait()
	})
}

// TestListBudgetOfNone: a budget that is nil is an error.
func TestListBudgetOfNone(t *testing.T) {
	pods := typed.NewInformer(kube.FromREST[*corev1.Pod](&rest.Config{Host: "http://example.com"}, kube.WithListBudget(nil)))
	assert.ErrorContains(t, pods.Run(t.Context()), "WithListBudget: budget is nil")
}
