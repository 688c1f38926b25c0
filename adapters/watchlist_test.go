package adapters_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/apitest"
)

// TestServerThatDoesNotStreamIsNoFailure: for a server without WatchList, an informer only logs
// debugging lines, and calls no error handler.
func TestServerThatDoesNotStreamIsNoFailure(t *testing.T) {
	srv := apitest.Start(t, apitest.WithoutWatchList())
	create := func(name string) {
		require.NoError(t, srv.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}))
	}
	create("a")
	client, err := kubernetes.NewForConfig(srv.Config())
	require.NoError(t, err)
	lw := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", metav1.NamespaceAll, fields.Everything())
	informer := adapters.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
	var failures []error
	require.NoError(t, informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { failures = append(failures, err) }))
	added := make(chan string, 2)
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { added <- obj.(*corev1.Pod).Name }})
	require.NoError(t, err)

	logger := ktesting.NewLogger(ktesting.NopTL{}, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(1)))
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	synced := cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	assert.Equal(t, "a", <-added)
	create("b")
	assert.Equal(t, "b", <-added, "the watch is open: it does not fail when the context ends")
	cancel()
	running.Wait()
	assert.True(t, synced)
	assert.Empty(t, failures)
	assert.Empty(t, logger.GetSink().(ktesting.Underlier).GetBuffer().String())
	assert.Equal(t, 1, srv.Requests("list", "pods"))
}
