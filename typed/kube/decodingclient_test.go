package kube_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/metrics"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/kube"
)

// TestDecodingClient: lists and watches have the objects themselves, and bookmarks that
// are of their type; what cannot be decoded ends a watch with an error.
func TestDecodingClient(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	pod := rig.NewPod("a", "")
	require.NoError(t, srv.Create(t.Context(), pod))
	clientset, err := kubernetes.NewForConfig(srv.Config())
	require.NoError(t, err)
	client, err := kube.NewDecodingClient(clientset.CoreV1().Pods(""), func(index.Key) (*corev1.Pod, bool) { return nil, false })
	require.NoError(t, err)

	list, err := client.ListWithContext(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	items, err := meta.ExtractList(list)
	require.NoError(t, err)
	require.Len(t, items, 1)
	assert.Equal(t, "a", items[0].(*corev1.Pod).Name)
	accessor, err := meta.ListAccessor(list)
	require.NoError(t, err)

	w, err := client.WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: accessor.GetResourceVersion(), AllowWatchBookmarks: true})
	require.NoError(t, err)
	defer client.Wait()
	defer w.Stop()
	require.Equal(t, 1, srv.Inject(apitest.Fault{Resource: "pods", Open: true, Event: watch.Event{Type: watch.Bookmark}}).Met())
	bookmark := <-w.ResultChan()
	assert.Equal(t, watch.Bookmark, bookmark.Type)
	assert.Equal(t, srv.ResourceVersion(), bookmark.Object.(*corev1.Pod).ResourceVersion)

	require.Equal(t, 1, srv.Inject(apitest.Fault{Resource: "pods", Open: true, Bytes: []byte{0, 0, 0, 3, 0xff, 0xff, 0xff}}).Met())
	failed := <-w.ResultChan()
	require.Equal(t, watch.Error, failed.Type)
	assert.Contains(t, failed.Object.(*metav1.Status).Message, "watch pods")
	_, open := <-w.ResultChan()
	assert.False(t, open)
}

// TestSizesOfLists: client-go's metric of the size of responses counts lists that are decoded here,
// and no watches, as it does for the clientset; behind a DecodingTransport, lists without objects.
func TestSizesOfLists(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "")))
	config := srv.Config()
	config.ContentType = runtime.ContentTypeProtobuf
	clientset, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	pods := clientset.CoreV1().Pods("")
	client, err := kube.NewDecodingClient(pods, nil)
	require.NoError(t, err)
	host := clientset.CoreV1().RESTClient().Get().URL().Host
	ofOthers := len(sizes.of(host)) // of a server that had the port before

	list, err := pods.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	_, err = client.ListWithContext(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	w, err := client.WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	require.NoError(t, err)
	defer client.Wait()
	defer w.Stop()
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("b", "")))
	<-w.ResultChan()
	config.WrapTransport = kube.DecodingTransport
	behind, err := kube.NewDecodingListerWatcher(requestsOf(t, config), &corev1.Pod{}, podKind, nil)
	require.NoError(t, err)
	_, err = behind.List(metav1.ListOptions{})
	require.NoError(t, err)

	observed := sizes.of(host)[ofOthers:]
	require.Len(t, observed, 3)
	assert.Equal(t, observed[0], observed[1])
	assert.Positive(t, observed[2])
	assert.Less(t, observed[2], observed[1])
}

// responseSizes are what client-go's metric of the size of responses is about, by host.
type responseSizes struct {
	mu     sync.Mutex
	byHost map[string][]float64
}

// Observe implements metrics.SizeMetric.
func (s *responseSizes) Observe(_ context.Context, verb, host string, size float64) {
	if verb != http.MethodGet {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byHost[host] = append(s.byHost[host], size)
}

func (s *responseSizes) of(host string) []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byHost[host]
}

var sizes = &responseSizes{byHost: map[string][]float64{}}

func init() { metrics.Register(metrics.RegisterOpts{ResponseSize: sizes}) }

// TestNoDecodingClient: clients that are nil, or send no requests to an API server, get an error
// with the reason.
func TestNoDecodingClient(t *testing.T) {
	t.Parallel()
	_, err := kube.NewDecodingClient(fake.NewClientset().CoreV1().Pods(""), nil)
	require.ErrorContains(t, err, "no client of client-go's clientset")
	_, err = kube.NewDecodingClient[*corev1.Pod, *corev1.PodList](nil, nil)
	require.ErrorContains(t, err, "no client of client-go's clientset")
}
