package kube_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
)

var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

// requestsOf returns what lists and watches Pods with a client of a configuration.
func requestsOf(t *testing.T, config *rest.Config) *cache.ListWatch {
	t.Helper()
	clientset, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	pods := clientset.CoreV1().Pods("")
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return pods.List(ctx, opts)
		},
		WatchFuncWithContext: pods.Watch,
	}
}

// listPods returns the Pods of a list of two, and of the watch that follows, of one more.
func listPods(t *testing.T, srv *apitest.Server, lw *kube.DecodingListerWatcher) (objects []*corev1.Pod, list runtime.Object) {
	t.Helper()
	require.NoError(t, srv.Create(t.Context(), tolerant("a")))
	require.NoError(t, srv.Create(t.Context(), tolerant("b")))
	list, err := lw.List(metav1.ListOptions{})
	require.NoError(t, err)
	require.NoError(t, meta.EachListItem(list, func(obj runtime.Object) error {
		objects = append(objects, obj.(*corev1.Pod))
		return nil
	}))
	require.Len(t, objects, 2)
	accessor, err := meta.ListAccessor(list)
	require.NoError(t, err)
	w, err := lw.Watch(metav1.ListOptions{ResourceVersion: accessor.GetResourceVersion()})
	require.NoError(t, err)
	defer lw.Wait()
	defer w.Stop()
	require.NoError(t, srv.Create(t.Context(), tolerant("c")))
	event := <-w.ResultChan()
	require.Equal(t, watch.Added, event.Type)
	return append(objects, event.Object.(*corev1.Pod)), list
}

// TestDecodingListerWatcher: responses to requests of another client are decoded and deduplicated
// here, if they come through a DecodingTransport and in a supported format; masked fields are left
// out in any case.
func TestDecodingListerWatcher(t *testing.T) {
	t.Parallel()
	none := func(index.Key) (metav1.Object, bool) { return nil, false }
	without := kube.WithoutFields("spec.containers")
	for name, test := range map[string]struct {
		change func(*rest.Config)
		held   func(index.Key) (metav1.Object, bool)
		opts   []kube.SourceOption
		shared bool
	}{
		"protobuf":               {func(c *rest.Config) { c.ContentType = runtime.ContentTypeProtobuf }, none, nil, true},
		"JSON":                   {func(c *rest.Config) { c.ContentType = runtime.ContentTypeJSON }, none, nil, true},
		"with a timeout":         {func(c *rest.Config) { c.Timeout = time.Minute }, none, nil, true},
		"without sharing":        {func(*rest.Config) {}, nil, nil, false},
		"fields":                 {func(*rest.Config) {}, none, []kube.SourceOption{without}, true},
		"another transport":      {func(c *rest.Config) { c.WrapTransport = nil }, none, nil, false},
		"compressed":             {func(c *rest.Config) { c.WrapTransport = compressing }, none, nil, false},
		"fields, by another one": {func(c *rest.Config) { c.WrapTransport = nil }, none, []kube.SourceOption{without}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := apitest.Start(t)
			config := srv.Config()
			config.WrapTransport = kube.DecodingTransport
			test.change(config)
			lw, err := kube.NewDecodingListerWatcher(requestsOf(t, config), &corev1.Pod{}, podKind, test.held, test.opts...)
			require.NoError(t, err)
			objects, _ := listPods(t, srv, lw)
			part := func(i int) *corev1.Toleration { return &objects[i].Spec.Tolerations[0] }
			for i, name := range []string{"a", "b", "c"} {
				want := tolerant(name).Spec
				if test.opts != nil {
					want.Containers = nil
				}
				assert.Equal(t, name, objects[i].Name)
				assert.Equal(t, want, objects[i].Spec)
			}
			// Those of the list may be decoded at once, without knowing of each other.
			assert.Equal(t, test.shared, part(2) == part(0) || part(2) == part(1), "c has a part of those before it")
			assert.False(t, !test.shared && part(0) == part(1), "b has a part of a")
		})
	}
}

// compressing returns a transport that compresses lists below a DecodingTransport, and decompresses them
// above.
func compressing(base http.RoundTripper) http.RoundTripper {
	below := kube.DecodingTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := base.RoundTrip(r)
		if err != nil || r.URL.Query().Has("watch") {
			return response, err
		}
		defer response.Body.Close()
		var text bytes.Buffer
		w := gzip.NewWriter(&text)
		if _, err = io.Copy(w, response.Body); err == nil {
			err = w.Close()
		}
		response.Body, response.ContentLength = io.NopCloser(&text), int64(text.Len())
		response.Header.Set("Content-Encoding", "gzip")
		return response, err
	}))
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := below.RoundTrip(r)
		if err != nil || response.Header.Get("Content-Encoding") == "" {
			return response, err
		}
		response.Body, err = gzip.NewReader(response.Body)
		response.Header.Del("Content-Encoding")
		return response, err
	})
}

// TestDecodingListerWatcherRejectsBadArguments: a type that cannot be decoded, and a field that cannot be left out, are errors.
func TestDecodingListerWatcherRejectsBadArguments(t *testing.T) {
	t.Parallel()
	lw := &cache.ListWatch{}
	for want, make := range map[string]func() (*kube.DecodingListerWatcher, error){
		"is nil": func() (*kube.DecodingListerWatcher, error) {
			return kube.NewDecodingListerWatcher(nil, &corev1.Pod{}, podKind, nil)
		},
		"example object is nil": func() (*kube.DecodingListerWatcher, error) {
			return kube.NewDecodingListerWatcher(lw, nil, podKind, nil)
		},
		"their kind is not known": func() (*kube.DecodingListerWatcher, error) {
			return kube.NewDecodingListerWatcher(lw, &corev1.Pod{}, schema.GroupVersionKind{}, nil)
		},
		"the nearest is": func() (*kube.DecodingListerWatcher, error) {
			return kube.NewDecodingListerWatcher(lw, &corev1.Pod{}, podKind, nil, kube.WithFields("spec.nodName"))
		},
		"only WithFields": func() (*kube.DecodingListerWatcher, error) {
			return kube.NewDecodingListerWatcher(lw, &corev1.Pod{}, podKind, nil, kube.WithoutWatchList())
		},
	} {
		_, err := make()
		require.ErrorContains(t, err, want)
	}
}

// TestReceiversModifyObjects: an object of an event belongs to its receiver, which may modify it, as
// transform functions do. The race detector reports a decoder that reads the object after that.
func TestReceiversModifyObjects(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	config := srv.Config()
	config.WrapTransport = kube.DecodingTransport
	lw, err := kube.NewDecodingListerWatcher(requestsOf(t, config), &corev1.Pod{}, podKind, nil)
	require.NoError(t, err)
	w, err := lw.Watch(metav1.ListOptions{})
	require.NoError(t, err)
	defer lw.Wait()
	defer w.Stop()
	for i := range 5 {
		name := string(rune('a' + i))
		require.NoError(t, srv.Create(t.Context(), tolerant(name)))
		pod := (<-w.ResultChan()).Object.(*corev1.Pod)
		assert.Equal(t, name, pod.Name)
		pod.ResourceVersion = ""
	}
}

// TestUnwantedWatch: when the context ends while another goroutine opens a watch, and decodes
// it, the watch is stopped.
func TestUnwantedWatch(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	opened := watch.NewFake()
	lw, err := kube.NewDecodingListerWatcher(&cache.ListWatch{
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			cancel()
			return opened, nil
		},
	}, &corev1.Pod{}, podKind, nil)
	require.NoError(t, err)
	for range 20 { // the first may be in time
		_, err = lw.WatchWithContext(ctx, metav1.ListOptions{})
	}
	assert.ErrorIs(t, err, context.Canceled)
	assert.True(t, opened.IsStopped())
	lw.Wait()
}
