package kube_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

var configMapResource = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// TestListOfAnotherKind: objects that are not of T's kind are never taken for some,
// and an informer that gets nothing else does not sync.
func TestListOfAnotherKind(t *testing.T) {
	srv := apitest.Start(t)
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings"}}
	inFormats(t, srv.Config(), func(t *testing.T, config *rest.Config, opts ...kube.SourceOption) {
		opts = append(opts, kube.WithResource(configMapResource))
		for _, create := range []bool{false, true} {
			if create {
				require.NoError(t, srv.Create(t.Context(), settings.DeepCopy()))
			} else if len(opts) == 1 {
				continue // nothing is wrong with a stream of nothing
			}
			pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config, opts...))
			rig.Start(t, pods)
			require.Eventually(t, func() bool { return pods.Status().Err != nil }, time.Minute, time.Millisecond)
			assert.Equal(t, report.PhaseSyncing, pods.Status().Phase)
			assert.Regexp(t, "kind is ConfigMap(List)? of v1, want Pod(List)? of v1", pods.Status().Err.Error())
			assert.Zero(t, pods.Len())
		}
		require.NoError(t, srv.Delete(t.Context(), settings))
	})
}

// badEvent is an event of a Pod that is none, as a watch has it.
func badEvent(t *testing.T, format, kind, name, version string) []byte {
	if format == runtime.ContentTypeJSON {
		return fmt.Appendf(nil, `{"type":%q,"object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"default","resourceVersion":%q},"spec":{"containers":"none"}}}`, kind, name, version)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: version}}
	raw, err := pod.Marshal()
	require.NoError(t, err)
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Raw: append(raw, 0x12, 0x01, 0xff)}
	object, err := unknown.Marshal()
	require.NoError(t, err)
	event := metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: append([]byte("k8s\x00"), object...)}}
	frame, err := event.Marshal()
	require.NoError(t, err)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
}

// TestPoisonInWatch: an object that cannot be decoded is reported with its key and
// holds up nothing, its deletion is a deletion, and it recovers with its next event.
func TestPoisonInWatch(t *testing.T) {
	t.Parallel()
	for _, format := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			srv := apitest.Start(t, apitest.WithBookmarks(0))
			require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "node-1"), rig.NewPod("b", "node-1")))
			requests := &watched{}
			config := requests.config(srv)
			config.ContentType = format
			pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config))
			deleted := make(chan typed.Deleted[*corev1.Pod], 1)
			_, err := pods.Handle(typed.HandlerFuncs[*corev1.Pod]{DeleteFunc: func(d typed.Deleted[*corev1.Pod]) { deleted <- d }})
			require.NoError(t, err)
			ctx := rig.Start(t, pods)
			require.NoError(t, pods.WaitForSync(ctx))
			require.NoError(t, srv.WaitForWatches(ctx, "pods", 1))

			require.Equal(t, 1, srv.Inject(apitest.Fault{Resource: "pods", Open: true, Bytes: badEvent(t, format, "MODIFIED", "a", "1000")}).Met())
			require.NoError(t, pods.WaitForResourceVersion(ctx, "1000"), "the version moves on")
			rejected := pods.Status().LastRejected
			require.NotNil(t, rejected)
			assert.Equal(t, index.Key{Namespace: "default", Name: "a"}, rejected.Key)
			assert.Equal(t, "1000", rejected.ResourceVersion)
			assert.ErrorContains(t, rejected, "it cannot be decoded: ")
			assert.Equal(t, 2, pods.Len(), "the last good state stays")

			require.NoError(t, srv.Create(ctx, rig.NewPod("c", "")))
			require.Eventually(t, func() bool { return pods.Len() == 3 }, time.Minute, time.Millisecond, "others go on")
			require.NoError(t, srv.Update(ctx, rig.NewPod("a", "node-2")))
			require.Eventually(t, func() bool {
				a, ok := pods.Get(index.Key{Namespace: "default", Name: "a"})
				return ok && a.Spec.NodeName == "node-2"
			}, time.Minute, time.Millisecond, "it recovers with its next event")

			require.Equal(t, 1, srv.Inject(apitest.Fault{Resource: "pods", Open: true, Bytes: badEvent(t, format, "DELETED", "b", "2000")}).Met())
			gone := <-deleted
			assert.Equal(t, "b", gone.Key.Name)
			assert.Equal(t, "node-1", gone.Object.Spec.NodeName, "with the last known state")
			assert.Equal(t, index.Watched, gone.Reason)
			assert.Equal(t, 2, pods.Status().Rejected)
			assert.NoError(t, pods.Status().LastErr)
			assert.Len(t, requests.all(), 1, "the watch goes on")

			unversioned := apitest.Fault{Resource: "pods", Open: true, Bytes: badEvent(t, format, "MODIFIED", "a", ""), End: apitest.Clean}
			require.Equal(t, 1, srv.Inject(unversioned).Met())
			require.Eventually(t, func() bool { return len(requests.all()) == 2 }, time.Minute, time.Millisecond)
			assert.Equal(t, "2000", requests.all()[1], "the next watch continues from the last version")
		})
	}
}

// answering is a server that answers lists with a text and watches with nothing.
func answering(t *testing.T, list string) *rest.Config {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Has("watch") {
			_ = http.NewResponseController(w).Flush() // it fails if the client has gone
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, list) // the same
	}))
	t.Cleanup(srv.Close)
	return &rest.Config{Host: srv.URL, QPS: -1}
}

// TestPoisonInList: an item that cannot be decoded is reported with its key, and
// the others are used.
func TestPoisonInList(t *testing.T) {
	config := answering(t, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[
		{"metadata":{"namespace":"default","name":"a","resourceVersion":"3"}},
		{"metadata":{"namespace":"default","name":"b","resourceVersion":"5"},"spec":{"containers":"none"}},
		{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"default","name":"c","resourceVersion":"6"}},
		{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"default","name":"d","resourceVersion":"6"}},
		{"metadata":7}]}`)
	pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config, kube.WithResource(podResource), kube.WithoutWatchList()))
	require.NoError(t, pods.WaitForSync(rig.Start(t, pods)))
	assert.Equal(t, 2, pods.Len())
	status := pods.Status()
	assert.Equal(t, 3, status.Rejected)
	var keys []string
	for _, rejected := range status.RejectedObjects {
		keys = append(keys, rejected.Key.Name)
		assert.True(t, rejected.Listed)
	}
	assert.ElementsMatch(t, []string{"b", "c", ""}, keys)
	assert.NoError(t, status.LastErr)
}

// TestListWithoutItems: an empty list may leave out that it is.
func TestListWithoutItems(t *testing.T) {
	pods := typed.NewInformer(kube.FromREST[*corev1.Pod](answering(t, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"}}`), kube.WithResource(podResource), kube.WithoutWatchList()))
	require.NoError(t, pods.WaitForSync(rig.Start(t, pods)))
	assert.Equal(t, "7", pods.ResourceVersion())
}

// TestListKinds: how servers call their lists.
func TestListKinds(t *testing.T) {
	for list, ok := range map[string]bool{
		`"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]`:                                true,
		`"kind":"","items":[{"metadata":{"name":"a"}}]`:                                                         true, // a test's own server
		`"kind":"List","apiVersion":"v1","items":[{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}]`:    true,
		`"kind":"Herd","apiVersion":"v1","items":[{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}]`:    true,
		`"kind":"Herd","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]`:                                   false,
		`"kind":"NodeList","apiVersion":"v1","items":[]`:                                                        false,
		`"kind":"PodList","apiVersion":"v2","items":[{"metadata":{"name":"a"}}]`:                                false,
		`"kind":"PodList","apiVersion":"v1","items":[{"kind":"Pod","apiVersion":"v2","metadata":{"name":"a"}}]`: false,
	} {
		t.Run(list, func(t *testing.T) {
			t.Parallel()
			config := answering(t, `{"metadata":{"resourceVersion":"7"},`+list+`}`)
			pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config, kube.WithResource(podResource), kube.WithoutWatchList()))
			ctx := rig.Start(t, pods)
			if ok {
				require.NoError(t, pods.WaitForSync(ctx))
				return
			}
			require.Eventually(t, func() bool { return pods.Status().Err != nil }, time.Minute, time.Millisecond)
			assert.ErrorContains(t, pods.Status().Err, "want Pod")
			assert.Zero(t, pods.Len())
		})
	}
}

// TestCutStreamedLists: a server, or what stands before it, that ends every
// streamed list too early is listed the plain way in the end.
func TestCutStreamedLists(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "")))
	config := with(srv.Config(), func(r *http.Request) *http.Response {
		if r.URL.Query().Get("sendInitialEvents") == "true" {
			return response(http.StatusOK, "")
		}
		return nil
	})
	pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config))
	require.NoError(t, pods.WaitForSync(rig.Start(t, pods)))
	assert.Equal(t, 1, srv.Requests("list", "pods"))
	assert.ErrorContains(t, pods.Status().LastErr, "watch pods: the streamed list ended before it was complete")
}

// TestServerWithoutMetadata: a server that cannot send metadata alone sends whole
// objects.
func TestServerWithoutMetadata(t *testing.T) {
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "")))
	inFormats(t, srv.Config(), func(t *testing.T, config *rest.Config, opts ...kube.SourceOption) {
		config = with(config, func(r *http.Request) *http.Response {
			var known []string
			for _, clause := range strings.Split(r.Header.Get("Accept"), ",") {
				if !strings.Contains(clause, "as=") {
					known = append(known, clause)
				}
			}
			if len(known) == 0 {
				return response(http.StatusNotAcceptable, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotAcceptable","code":406}`)
			}
			r.Header.Set("Accept", strings.Join(known, ","))
			return nil
		})
		listed, watched := keeps(t, srv, kube.FromREST[*metav1.PartialObjectMetadata](config, append(opts, kube.WithResource(podResource))...), rig.NewPod("b", ""))
		assert.Equal(t, "a b", listed.Name+" "+watched.Name)
		assert.Equal(t, [2]metav1.TypeMeta{}, [2]metav1.TypeMeta{listed.TypeMeta, watched.TypeMeta})
	})
}

// TestServerWithoutWatchList: that lists are not streamed is no failure.
func TestServerWithoutWatchList(t *testing.T) {
	srv := apitest.Start(t, apitest.WithoutWatchList())
	client, err := kubernetes.NewForConfig(srv.Config())
	require.NoError(t, err)
	for name, src := range map[string]source.Source[*corev1.Pod]{
		"FromREST": kube.FromREST[*corev1.Pod](srv.Config()), "FromClient": kube.FromClient(client.CoreV1().Pods("")),
	} {
		pods := typed.NewInformer(src)
		require.NoError(t, pods.WaitForSync(rig.Start(t, pods)))
		assert.NoError(t, pods.Status().LastErr, name)
	}
	assert.Equal(t, 2, srv.Requests("list", "pods"))
}

// TestErrorsAreNoSecrets: nothing of an answer is in an error.
func TestErrorsAreNoSecrets(t *testing.T) {
	const secret = "hunter2hunter2"
	for _, contentType := range []string{"text/html", "application/json", runtime.ContentTypeProtobuf} {
		config := with(&rest.Config{Host: "localhost"}, func(*http.Request) *http.Response {
			r := response(http.StatusOK, secret)
			r.Header.Set("Content-Type", contentType)
			return r
		})
		err := fails(t, kube.FromREST[*corev1.Pod](config, kube.WithResource(podResource), kube.WithoutWatchList()), "list pods")
		assert.NotContains(t, err.Error(), "hunter")
	}
}
