package kube_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// encodings are what a server was asked to compress lists and watches by.
type encodings struct{ list, watch string }

// askedEncodings returns what the informer of a source asks a server for.
func askedEncodings(t *testing.T, make func(*rest.Config) source.Source[*corev1.Pod]) encodings {
	t.Helper()
	srv, _ := rig.Serve(t, 5)
	upstream, err := url.Parse(srv.Config().Host)
	require.NoError(t, err)
	passOn := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(upstream) }, FlushInterval: -1}
	var mu sync.Mutex
	var seen encodings
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if r.URL.Query().Get("watch") != "" {
			seen.watch = r.Header.Get("Accept-Encoding")
		} else {
			seen.list = r.Header.Get("Accept-Encoding")
		}
		mu.Unlock()
		passOn.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		between.CloseClientConnections()
		between.Close()
	})
	pods := typed.NewInformer(make(&rest.Config{Host: between.URL}))
	ctx := rig.Start(t, pods)
	require.NoError(t, pods.WaitForSync(ctx))
	require.NoError(t, srv.WaitForWatches(ctx, "pods", 1))
	mu.Lock()
	defer mu.Unlock()
	return seen
}

// TestWithCompressedWatches: watches, which may begin with a list, are compressed on
// demand, plain lists always.
func TestWithCompressedWatches(t *testing.T) {
	fromREST := func(opts ...kube.SourceOption) func(*rest.Config) source.Source[*corev1.Pod] {
		return func(config *rest.Config) source.Source[*corev1.Pod] {
			return kube.FromREST[*corev1.Pod](config, append(opts, kube.WithResource(corev1.SchemeGroupVersion.WithResource("pods")))...)
		}
	}
	fromClient := func(opts ...kube.SourceOption) func(*rest.Config) source.Source[*corev1.Pod] {
		return func(config *rest.Config) source.Source[*corev1.Pod] {
			return kube.FromClient(kubernetes.NewForConfigOrDie(config).CoreV1().Pods(""), opts...)
		}
	}
	for name, c := range map[string]struct {
		make func(*rest.Config) source.Source[*corev1.Pod]
		want encodings
	}{
		"streamed":               {fromREST(), encodings{watch: "identity"}},
		"streamed, compressed":   {fromREST(kube.WithCompressedWatches()), encodings{watch: "gzip"}},
		"listed":                 {fromREST(kube.WithoutWatchList()), encodings{"gzip", "identity"}},
		"listed, compressed":     {fromREST(kube.WithoutWatchList(), kube.WithCompressedWatches()), encodings{"gzip", "gzip"}},
		"by a client":            {fromClient(), encodings{watch: "identity"}},
		"by a client compressed": {fromClient(kube.WithCompressedWatches()), encodings{watch: "gzip"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, askedEncodings(t, c.make))
		})
	}
}

// TestWithCompressedWatchesElsewhere: where client-go receives, its configuration says.
func TestWithCompressedWatchesElsewhere(t *testing.T) {
	pods := typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](&cache.ListWatch{}, kube.WithCompressedWatches()))
	assert.ErrorContains(t, pods.Run(t.Context()), "see DisableCompression of rest.Config")
}
