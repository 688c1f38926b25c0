package kube_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// countingTransport counts the bytes of lists and watches of Pods as they are read.
type countingTransport struct {
	http.RoundTripper
	read *atomic.Int64
}

func (t countingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(request)
	if err == nil && strings.HasSuffix(request.URL.Path, "/pods") {
		response.Body = countingBody{response.Body, t.read}
	}
	return response, err
}

type countingBody struct {
	io.ReadCloser
	read *atomic.Int64
}

func (b countingBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.read.Add(int64(n))
	return n, err
}

// TestTraffic compares what an informer says that it has received with what the transport
// has seen, in both formats, for a list and a watch, and through sources that wrap others.
func TestTraffic(t *testing.T) {
	const listed, updates = 100, 60
	for _, format := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		for name, wrap := range map[string]func(source.Source[*corev1.Pod]) source.Source[*corev1.Pod]{
			"plain": func(s source.Source[*corev1.Pod]) source.Source[*corev1.Pod] { return s },
			"mapped": func(s source.Source[*corev1.Pod]) source.Source[*corev1.Pod] {
				return source.Map(s, func(p *corev1.Pod) *corev1.Pod { return p })
			},
			"namespaces": func(s source.Source[*corev1.Pod]) source.Source[*corev1.Pod] {
				return source.FromNamespaces(source.NewNamespaces("default"), func(string) source.Source[*corev1.Pod] { return s })
			},
		} {
			t.Run(format+" "+name, func(t *testing.T) {
				srv, _ := rig.Serve(t, listed)
				config := srv.Config()
				config.ContentType = format
				var read atomic.Int64
				config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return countingTransport{rt, &read} })
				informer := typed.NewInformer(wrap(kube.FromREST[*corev1.Pod](rest.CopyConfig(config), kube.WithNamespace("default"), kube.WithoutWatchList())))
				rig.Start(t, informer)
				require.NoError(t, informer.WaitForSync(t.Context()))
				require.NoError(t, srv.WaitForWatches(t.Context(), "pods", 1))
				pod := informer.List()[0].DeepCopy()
				pod.ResourceVersion = "" // whatever there is
				for range updates {
					pod.Labels = map[string]string{"n": time.Now().String()}
					require.NoError(t, srv.Update(t.Context(), pod))
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				require.NoError(t, informer.WaitForResourceVersion(ctx, srv.ResourceVersion()))
				traffic := informer.Status().Traffic
				assert.EqualValues(t, read.Load(), traffic.Bytes)
				assert.GreaterOrEqual(t, traffic.Frames, uint64(listed+updates))
				assert.Less(t, traffic.Frames, uint64(listed+updates+20), "bookmarks are few")
				assert.Positive(t, traffic.Decoding)
				assert.Less(t, traffic.Decoding, time.Minute)
			})
		}
	}
	t.Run("not known", func(t *testing.T) {
		_, client := rig.Serve(t, 1)
		pods := client.CoreV1().Pods("default")
		informer := typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
				return pods.List(ctx, opts)
			},
			WatchFuncWithContext: pods.Watch,
		}))
		rig.Start(t, informer)
		require.NoError(t, informer.WaitForSync(t.Context()))
		assert.Zero(t, informer.Status().Traffic)
	})
}
