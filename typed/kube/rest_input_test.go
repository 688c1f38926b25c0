package kube_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// versionless has no version.
type versionless struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
}

func (v *versionless) GetName() string    { return v.Metadata.Name }
func (*versionless) GetNamespace() string { return "" }

// untagged does not read its metadata.
type untagged struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}

// TestBadRESTInput makes every mistake that arguments allow.
func TestBadRESTInput(t *testing.T) {
	config := &rest.Config{Host: "localhost"}
	for message, err := range map[string]error{
		"configuration is nil":                    kube.FromREST[*corev1.Pod](nil).Run(t.Context(), nil),
		"source option is nil":                    kube.FromREST[*corev1.Pod](config, nil).Run(t.Context(), nil),
		"WithScheme: scheme is nil":               kube.FromREST[*corev1.Pod](config, kube.WithScheme(nil)).Run(t.Context(), nil),
		"WithRESTMapper: mapper is nil":           kube.FromREST[*corev1.Pod](config, kube.WithRESTMapper(nil)).Run(t.Context(), nil),
		"pointers to structs, and rig.":           kube.FromREST[rig.Bare](config).Run(t.Context(), nil),
		"write v1.ObjectMeta `json:\"metadata\"`": kube.FromREST[*untagged](config, kube.WithResource(podResource)).Run(t.Context(), nil),
		"no method GetResourceVersion":            kube.FromREST[*versionless](config).Run(t.Context(), nil),
		"it is in no scheme":                      kube.FromREST[*Network](config).Run(t.Context(), nil),
		"use WithResource":                        kube.FromREST[*unstructured.Unstructured](config).Run(t.Context(), nil),
		"of *v1.PartialObjectMetadata is not":     kube.FromREST[*metav1.PartialObjectMetadata](config).Run(t.Context(), nil),
		"use WithResource, or WithScheme":         kube.FromREST[*corev1.Pod](config, kube.WithScheme(runtime.NewScheme())).Run(t.Context(), nil),
		"has no version or no name":               kube.FromREST[*Network](config, kube.WithResource(schema.GroupVersionResource{Resource: "networks"})).Run(t.Context(), nil),
		`"a/b" may not contain '/'`:               kube.FromREST[*Network](config, kube.WithResource(schema.GroupVersionResource{Version: "v1", Resource: "a/b"})).Run(t.Context(), nil),
		`the namespace ".." may not be`:           kube.FromREST[*corev1.Pod](config, kube.WithNamespace("..")).Run(t.Context(), nil),
		"the timeout of streamed lists is 0s":     kube.FromREST[*corev1.Pod](config, kube.WithWatchListTimeout(0)).Run(t.Context(), nil),
		"does not embed metav1.TypeMeta":          kube.FromREST[*slimPod](config, kube.WithResource(podResource), kube.WithTypeMeta()).Run(t.Context(), nil),
		"invalid URL escape":                      kube.FromREST[*corev1.Pod](&rest.Config{Host: "http://%"}).Run(t.Context(), nil),
		"WithNamespace: for FromREST alone":       kube.FromListerWatcher[*corev1.Pod](&cache.ListWatch{}, kube.WithNamespace("a")).Run(t.Context(), nil),
		"WithResource, WithTypeMeta: for FromRE":  kube.FromListerWatcher[*corev1.Pod](&cache.ListWatch{}, kube.WithResource(podResource), kube.WithTypeMeta()).Run(t.Context(), nil),
	} {
		assert.ErrorContains(t, err, message)
	}
}

// fails runs an informer that cannot sync, and checks what it says.
func fails[T index.Object](t *testing.T, src source.Source[T], messages ...string) error {
	t.Helper()
	informer := typed.NewInformer(src)
	ctx := rig.Start(t, informer)
	err := waitInVain(ctx, t, informer)
	for _, message := range messages {
		assert.ErrorContains(t, err, message)
	}
	assert.Positive(t, informer.Status().Failures)
	return err
}

// TestBadAnswers: whatever a server, or something in its place, answers, the
// error says what it was.
func TestBadAnswers(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	gone := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "ghosts"}
	t.Run("unknown resource", func(t *testing.T) {
		err := fails(t, kube.FromREST[*Network](srv.Config(), kube.WithResource(gone)), "ghosts.v1.example.com", "the server does not have it; is its CustomResourceDefinition or API service installed?", "could not find the requested resource")
		assert.True(t, apierrors.IsNotFound(err))
	})
	t.Run("unknown kind", func(t *testing.T) {
		scheme := runtime.NewScheme()
		scheme.AddKnownTypeWithName(schema.GroupVersionKind{Version: "v1", Kind: "Ghost"}, &corev1.Pod{})
		fails(t, kube.FromREST[*corev1.Pod](srv.Config(), kube.WithScheme(scheme)), "find a resource of the kind Ghost in v1: the server does not have it")
		scheme = runtime.NewScheme()
		scheme.AddKnownTypeWithName(gone.GroupVersion().WithKind("Ghost"), &corev1.Pod{})
		fails(t, kube.FromREST[*corev1.Pod](srv.Config(), kube.WithScheme(scheme)), "discover the resources of example.com/v1")
	})
	t.Run("cluster scoped", func(t *testing.T) {
		roles := kube.FromREST[*rbacv1.ClusterRole](srv.Config(), kube.WithNamespace("default"))
		assert.ErrorContains(t, roles.Run(t.Context(), &mirrorSink[*rbacv1.ClusterRole]{to: newMirror()}), `WithNamespace names "default", and clusterroles.v1.rbac.authorization.k8s.io have none`)
	})
	t.Run("invalid selector", func(t *testing.T) {
		err := fails(t, kube.FromREST[*corev1.Pod](srv.Config(), kube.WithFieldSelector(fields.OneTermEqualSelector("spec.colour", "red"))), "pods", "spec.colour")
		assert.True(t, apierrors.IsBadRequest(err))
	})
	list := func(items string) string {
		return `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[` + items + `]}`
	}
	good := `{"metadata":{"namespace":"default","name":"a","resourceVersion":"3"}}`
	for name, test := range map[string]struct {
		code     int
		mediaTyp string
		body     string
		want     []string
	}{
		"HTML":                {200, "text/html; charset=utf-8", "<html>Please sign in", []string{`list pods: the answer has the content type "text/html; charset=utf-8"`, "it is not from an API server"}},
		"HTML that says JSON": {200, "application/json", "<html>Please sign in", []string{"list pods: frame 1, at byte 0 of the response: expected '{' at byte 0 of the response, found '<'"}},
		"HTML with 502":       {502, "text/html", "<html>Bad gateway", []string{"list pods: ", "Bad gateway"}},
		"no content type":     {200, "", "<html>Please sign in", []string{"expected '{' at byte 0 of the response, found '<'"}},
		"another media type":  {200, "application/yaml", "a: b", []string{`"application/yaml"`}},
		"406":                 {406, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotAcceptable","message":"only the following media types are accepted: x","code":406}`, []string{"list pods: only the following media types are accepted: x"}},
		"not a list":          {200, "application/json", `{"kind":"Pod","apiVersion":"v1"}`, []string{"not a list, but a Pod of v1"}},
		"empty":               {200, "application/json", "", []string{"list pods: frame 1, at byte 0 of the response, is cut off"}},
		"cut off":             {200, "application/json", list(good + "," + good)[:190], []string{"list pods: frame 2, at byte 150 of the response, is cut off"}},
		"not JSON":            {200, "application/json", list("{]}"), []string{"frame 1", "invalid character"}},
		"not protobuf":        {200, runtime.ContentTypeProtobuf, "<html>", []string{`expected protobuf, found something else`}},
		"protobuf cut off":    {200, runtime.ContentTypeProtobuf, "k8s\x00\x0a\x10", []string{"is cut off"}},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = []string{test.mediaTyp}
				w.WriteHeader(test.code)
				_, err := io.WriteString(w, test.body)
				assert.NoError(t, err)
			}))
			defer proxy.Close()
			fails(t, kube.FromREST[*corev1.Pod](&rest.Config{Host: proxy.URL, QPS: -1}, kube.WithResource(podResource), kube.WithoutWatchList()), test.want...)
		})
	}
}

// watched notes the versions at which watches begin.
type watched struct {
	mu       sync.Mutex
	versions []string // guarded by mu
}

func (w *watched) config(srv *apitest.Server) *rest.Config {
	config := srv.Config()
	config.Wrap(func(base http.RoundTripper) http.RoundTripper { return noting{w, base} })
	return config
}

func (w *watched) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.versions...)
}

type noting struct {
	*watched
	http.RoundTripper
}

func (n noting) RoundTrip(r *http.Request) (*http.Response, error) {
	if query := r.URL.Query(); query.Has("watch") {
		n.mu.Lock()
		n.versions = append(n.versions, query.Get("resourceVersion"))
		n.mu.Unlock()
	}
	return n.RoundTripper.RoundTrip(r)
}

// TestBadFrames breaks a watch in the middle: earlier events are kept, the error contains the
// offset, and the watch continues from there.
func TestBadFrames(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", 20<<20)
	for name, test := range map[string]struct {
		format string
		bad    apitest.Fault
		want   string
	}{
		"cut off":     {runtime.ContentTypeJSON, apitest.Fault{End: apitest.Torn}, "is cut off"},
		"no JSON":     {runtime.ContentTypeJSON, apitest.Fault{Bytes: []byte("<html>")}, `expected a JSON object at byte `},
		"no event":    {runtime.ContentTypeJSON, apitest.Fault{Bytes: []byte(`{"type":"ADDED"}`)}, "an event without an object"},
		"strange":     {runtime.ContentTypeJSON, apitest.Fault{Event: watch.Event{Type: "STRANGE", Object: kindedPod("c")}}, `unknown type of 7 bytes`},
		"nameless":    {runtime.ContentTypeJSON, apitest.Fault{Bytes: []byte(`{"type":"ADDED","object":{"metadata":{"name":7}}}`)}, "cannot unmarshal number"},
		"too long":    {runtime.ContentTypeJSON, apitest.Fault{Bytes: []byte(`{"type":"` + huge)}, "longer than"},
		"torn":        {runtime.ContentTypeProtobuf, apitest.Fault{End: apitest.Torn}, "is cut off"},
		"no length":   {runtime.ContentTypeProtobuf, apitest.Fault{Bytes: []byte("<html>")}, "longer than"},
		"no protobuf": {runtime.ContentTypeProtobuf, apitest.Fault{Bytes: []byte{0, 0, 0, 2, 0xff, 0xff}}, "not a protobuf message"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := apitest.Start(t, apitest.WithBookmarks(0))
			require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "")))
			requests := &watched{}
			config := requests.config(srv)
			config.ContentType = test.format
			pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config))
			history := rig.Record(t, pods)
			ctx := rig.Start(t, pods)
			require.NoError(t, pods.WaitForSync(ctx))
			require.NoError(t, srv.Create(ctx, rig.NewPod("b", "")))
			last := srv.ResourceVersion()
			require.NoError(t, pods.WaitForResourceVersion(ctx, last))

			bad := test.bad
			bad.Open = true
			require.Equal(t, 1, srv.Inject(bad).Met())
			require.Eventually(t, func() bool { return len(requests.all()) > 1 }, time.Minute, time.Millisecond)
			require.NoError(t, srv.Create(ctx, rig.NewPod("z", "")))
			require.NoError(t, pods.WaitForResourceVersion(ctx, srv.ResourceVersion()))
			assert.Equal(t, last, requests.all()[1], "it goes on from the last good version")
			assert.Zero(t, srv.Requests("list", "pods"))

			err := pods.Status().LastErr
			var broken *kube.StreamError
			require.ErrorAs(t, err, &broken)
			assert.ErrorContains(t, err, test.want)
			assert.ErrorContains(t, err, fmt.Sprintf("watch pods: frame 4, at byte %d of the response", broken.Offset))
			assert.Equal(t, 4, broken.Part, "after two Pods and a bookmark")
			assert.Equal(t, last, broken.LastVersion)
			assert.NoError(t, pods.Status().Err)
			assert.Equal(t, 3, pods.Len())
			_, relisted := history.Events()
			assert.Zero(t, relisted)
		})
	}
}

func kindedPod(name string) *corev1.Pod {
	pod := rig.NewPod(name, "")
	pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	return pod
}

// TestObjectOfAnotherKind: an object of another kind than requested is rejected and reported.
func TestObjectOfAnotherKind(t *testing.T) {
	inFormats(t, &rest.Config{}, func(t *testing.T, config *rest.Config, opts ...kube.SourceOption) {
		// A separate server: another one may still count a watch whose client has gone.
		srv := apitest.Start(t)
		own := srv.Config()
		own.ContentType = config.ContentType
		pods := typed.NewInformer(kube.FromREST[*corev1.Pod](own, opts...))
		ctx := rig.Start(t, pods)
		require.NoError(t, pods.WaitForSync(ctx))
		require.NoError(t, srv.WaitForWatches(ctx, "pods", 1))
		require.Equal(t, 1, srv.Inject(apitest.Fault{Resource: "pods", Open: true, Event: watch.Event{Type: watch.Added, Object: &corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings", ResourceVersion: "1"},
		}}}).Met())
		require.Eventually(t, func() bool { return pods.Status().Rejected == 1 }, time.Minute, time.Millisecond)
		assert.Equal(t, "informer "+pods.Name()+`: object "default/settings" at resource version "1" was left out: kind is ConfigMap of v1, want Pod of v1`, pods.Status().LastRejected.Error())
		assert.Zero(t, pods.Len())
		assert.NoError(t, pods.Status().LastErr)
	})
}

// TestLargeObjects: objects of more than 1 MiB come by lists and watches.
func TestLargeObjects(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	large := func(name string) *corev1.Pod {
		pod := rig.NewPod(name, "")
		pod.Annotations = map[string]string{"text": strings.Repeat(`some "quoted" text `, 80_000)}
		return pod
	}
	require.NoError(t, srv.Create(t.Context(), large("a")))
	inFormats(t, srv.Config(), func(t *testing.T, config *rest.Config, opts ...kube.SourceOption) {
		listed, watched := keeps(t, srv, kube.FromREST[*corev1.Pod](config, opts...), large("b"))
		assert.Equal(t, large("a").Annotations, listed.Annotations)
		assert.Equal(t, large("b").Annotations, watched.Annotations)
	})
}

// TestEndlessStreamedList: a server that never ends a streamed list is listed.
func TestEndlessStreamedList(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t, apitest.WithoutWatchList())
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "")))
	requests := &watched{}
	config := requests.config(srv)
	config.Wrap(func(base http.RoundTripper) http.RoundTripper { return ignorant{base} })
	pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config, kube.WithWatchListTimeout(50*time.Millisecond), quickly))
	ctx := rig.Start(t, pods)
	require.NoError(t, pods.WaitForSync(ctx))
	assert.ErrorContains(t, pods.Status().NotStreamedErr, "watch pods: the server does not end the streamed list")
	assert.ErrorIs(t, pods.Status().NotStreamedErr, source.ErrNotStreamed)
	assert.NoError(t, pods.Status().LastErr, "that is no failure")
	assert.Equal(t, 1, srv.Requests("list", "pods"))
	require.NoError(t, srv.Create(ctx, rig.NewPod("b", "")))
	require.NoError(t, pods.WaitForResourceVersion(ctx, srv.ResourceVersion()), "it is watched")
	assert.NoError(t, pods.Status().Err)
	require.NoError(t, srv.WaitForWatches(ctx, "pods", 1), "the stream that was given up is not counted any more")

	before := len(requests.all())
	srv.Compact()
	require.Equal(t, 1, srv.Inject(apitest.Fault{Resource: "pods", Open: true, Err: apierrors.NewResourceExpired("too old")}).Met())
	require.Eventually(t, func() bool { return srv.Requests("list", "pods") == 2 }, time.Minute, time.Millisecond)
	require.NoError(t, srv.WaitForWatches(ctx, "pods", 1))
	assert.Len(t, requests.all(), before+1, "it does not try to stream again")
}

// ignorant is a transport to a server that has never heard of streamed lists.
type ignorant struct{ http.RoundTripper }

func (i ignorant) RoundTrip(r *http.Request) (*http.Response, error) {
	own := r.Clone(r.Context())
	query := own.URL.Query()
	query.Del("sendInitialEvents")
	query.Del("resourceVersionMatch")
	own.URL.RawQuery = query.Encode()
	return i.RoundTripper.RoundTrip(own)
}
