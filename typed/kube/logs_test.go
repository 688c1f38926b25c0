package kube_test

import (
	"context"
	"errors"
	"fmt"
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
	"k8s.io/apimachinery/pkg/fields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// podSources returns all ways to get Pods of a server.
func podSources(t *testing.T, srv *apitest.Server) map[string]source.Source[*corev1.Pod] {
	client, err := kubernetes.NewForConfig(srv.Config())
	require.NoError(t, err)
	return map[string]source.Source[*corev1.Pod]{
		"FromREST":   kube.FromREST[*corev1.Pod](srv.Config()),
		"FromClient": kube.FromClient(client.CoreV1().Pods("")),
		"FromListerWatcher": kube.FromListerWatcher[*corev1.Pod](
			cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", metav1.NamespaceAll, fields.Everything())),
		"FromNamespaces": source.FromNamespaces(source.NewNamespaces("default"), func(namespace string) source.Source[*corev1.Pod] {
			return kube.FromREST[*corev1.Pod](srv.Config(), kube.WithNamespace(namespace))
		}),
	}
}

// logged is what an informer logs as errors and, at level 0, otherwise.
type logged struct {
	context.Context
	infos func() []string

	mu     sync.Mutex
	errors []string // guarded by mu
}

func catchLogs(t *testing.T) *logged {
	l := &logged{}
	l.Context, l.infos = rig.Lines()
	handle := utilruntime.ErrorHandler(func(_ context.Context, err error, message string, _ ...any) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.errors = append(l.errors, fmt.Sprintf("%s: %v", message, err))
	})
	rig.ErrorHandler.Store(&handle)
	t.Cleanup(func() { rig.ErrorHandler.Store(nil) })
	return l
}

// take returns the errors, and how often it was logged that it works again, since the
// last call.
func (l *logged) take() (errs []string, works int) {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	errs, l.errors = l.errors, nil
	for _, line := range l.infos() {
		if strings.Contains(line, "List and watch work again") {
			works++
		}
	}
	return errs, works
}

// TestServersThatDoNotStreamAreNoFailure: neither a server without WatchList nor the list
// that follows is logged above level 2, or counted, whatever the source.
func TestServersThatDoNotStreamAreNoFailure(t *testing.T) {
	for _, name := range []string{"FromREST", "FromClient", "FromListerWatcher", "FromNamespaces"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := apitest.Start(t, apitest.WithoutWatchList())
				logs := catchLogs(t)
				pods := typed.NewInformer(podSources(t, srv)[name])
				startIn(t, logs, pods)
				require.NoError(t, pods.WaitForSync(t.Context()))
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.Empty(t, logs.infos())
				errs, _ := logs.take()
				assert.Empty(t, errs)
				assert.NoError(t, pods.Status().LastErr)
				assert.Zero(t, pods.Status().Failures)
			})
		})
	}
}

// TestWatchesThatFailAfterEachList: a list that succeeds before each watch that fails is
// no end of the failures.
func TestWatchesThatFailAfterEachList(t *testing.T) {
	for _, name := range []string{"FromREST", "FromClient", "FromListerWatcher", "FromNamespaces"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := apitest.Start(t, apitest.WithoutWatchList())
				logs := catchLogs(t)
				pods := typed.NewInformer(podSources(t, srv)[name])
				denied := srv.Inject(apitest.Fault{Verb: "watch", Err: apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("not you"))})
				startIn(t, logs, pods)
				require.NoError(t, pods.WaitForSync(t.Context()))
				time.Sleep(time.Hour)
				errs, works := logs.take()
				assert.Zero(t, works)
				assert.GreaterOrEqual(t, srv.Requests("list", "pods"), 20)
				assert.GreaterOrEqual(t, len(errs), 10)
				assert.LessOrEqual(t, len(errs), 16, "at growing intervals")
				for _, err := range errs {
					assert.Contains(t, err, "Failed to list or watch, will retry: ")
					assert.Contains(t, err, "not you")
				}
				denied.Remove()
				time.Sleep(time.Minute)
				errs, works = logs.take()
				assert.Empty(t, errs)
				assert.Equal(t, 1, works)
				assert.NoError(t, pods.Status().Err)
			})
		})
	}
}

// startIn runs an informer in a context until the test ends.
func startIn[T index.Object](t *testing.T, ctx context.Context, i *typed.Informer[T]) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(t, i.Run(ctx)) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}
