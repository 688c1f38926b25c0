package kube_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

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

// TestNoDecodingClient: clients that are nil, or send no requests to an API server, get an error
// with the reason.
func TestNoDecodingClient(t *testing.T) {
	t.Parallel()
	_, err := kube.NewDecodingClient(fake.NewClientset().CoreV1().Pods(""), nil)
	require.ErrorContains(t, err, "no client of client-go's clientset")
	_, err = kube.NewDecodingClient[*corev1.Pod, *corev1.PodList](nil, nil)
	require.ErrorContains(t, err, "no client of client-go's clientset")
}
