package kube_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// The answers of a server that has one Pod, and then another one.
const (
	podEvent  = `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","namespace":"default","resourceVersion":"8"}}}` + "\n"
	podInList = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","namespace":"default","resourceVersion":"5"}}]}`
)

// endless is a body that ends with its request.
func endless(r *http.Request, text []byte) io.ReadCloser {
	in, out := io.Pipe()
	context.AfterFunc(r.Context(), func() { in.CloseWithError(r.Context().Err()) })
	go out.Write(text) //nolint:errcheck // the reader has gone
	return in
}

// serving returns a configuration of a server that answers with the given list and watch, and
// streams no lists.
func serving(list, watch []byte, header http.Header) *rest.Config {
	return with(&rest.Config{Host: "http://server"}, func(r *http.Request) *http.Response {
		if r.URL.Query().Get("sendInitialEvents") != "" {
			return response(http.StatusUnprocessableEntity, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
		}
		answer := response(http.StatusOK, string(list))
		if r.URL.Query().Get("watch") != "" {
			answer.Body = endless(r, watch)
		}
		answer.Header = header.Clone()
		return answer
	})
}

func fromREST(config *rest.Config) source.Source[*corev1.Pod] {
	return kube.FromREST[*corev1.Pod](config, kube.WithResource(podResource))
}

// assertBoth checks that an informer has the Pods of the list and of the watch.
func assertBoth(t *testing.T, name string, src source.Source[*corev1.Pod]) {
	t.Helper()
	pods := typed.NewInformer(src)
	ctx := rig.Start(t, pods)
	require.NoError(t, pods.WaitForSync(ctx), name)
	require.NoError(t, pods.WaitForResourceVersion(ctx, "8"), name)
	assert.Equal(t, 2, pods.Len(), name)
}

// assertNotSynced checks why an informer has no objects.
func assertNotSynced[T index.Object](t *testing.T, informer *typed.Informer[T], reason string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(rig.Start(t, informer), time.Second)
	defer cancel()
	require.ErrorContains(t, informer.WaitForSync(ctx), reason)
}

// TestAnswersWithoutContentType: the first bytes decide the format of a list, which client-go reads
// from its configuration. A watch is read as JSON, as by client-go.
func TestAnswersWithoutContentType(t *testing.T) { synctest.Test(t, testAnswersWithoutContentType) }

func testAnswersWithoutContentType(t *testing.T) {
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	list := &corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, ListMeta: metav1.ListMeta{ResourceVersion: "7"},
		Items: []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default", ResourceVersion: "5"}}}}
	var inProtobuf bytes.Buffer
	require.NoError(t, info.Serializer.Encode(list, &inProtobuf))
	for contentType, text := range map[string][]byte{
		runtime.ContentTypeJSON: []byte(podInList), runtime.ContentTypeProtobuf: inProtobuf.Bytes(),
	} {
		config := serving(text, []byte(podEvent), http.Header{})
		config.ContentType = contentType
		client := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("")
		listed, err := client.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err, "client-go, %q", contentType)
		require.Len(t, listed.Items, 1)
		w, err := client.Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Equal(t, "b", (<-w.ResultChan()).Object.(*corev1.Pod).Name)
		w.Stop()

		assertBoth(t, "FromREST, "+contentType, fromREST(config))
		assertBoth(t, "FromREST, "+contentType, fromREST(serving(text, []byte(podEvent), http.Header{})))
		assertBoth(t, "FromClient, "+contentType, kube.FromClient(client))
	}
	config := serving(nil, nil, http.Header{"Content-Type": {"text/html"}})
	pods := typed.NewInformer(fromREST(config))
	assertNotSynced(t, pods, `content type "text/html"`)
}

// TestCompressedAnswers: answers that a server compresses without being asked are decoded, errors
// included, and another encoding is reported.
func TestCompressedAnswers(t *testing.T) { synctest.Test(t, testCompressedAnswers) }

func testCompressedAnswers(t *testing.T) {
	compress := func(text string, end func(*gzip.Writer) error) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, err := w.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, end(w))
		return out.Bytes()
	}
	list, watch := compress(podInList, (*gzip.Writer).Close), compress(podEvent, (*gzip.Writer).Flush) // the watch has no end
	config := serving(list, watch, http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}, "Content-Length": {"5"}})
	assertBoth(t, "FromREST", fromREST(config))
	assertBoth(t, "FromClient", kube.FromClient(kubernetes.NewForConfigOrDie(config).CoreV1().Pods("")))

	pods := typed.NewInformer(fromREST(serving(nil, nil, http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"br"}})))
	assertNotSynced(t, pods, `encoded as "br"`)
}

// TestSlowDecodingIsReported: the reason for which objects stay in JSON, or have no plan, is in the
// log and in the status. There is none otherwise.
func TestSlowDecodingIsReported(t *testing.T) {
	t.Parallel()
	config := serving([]byte(podInList), nil, http.Header{"Content-Type": {"application/json"}})
	assertTold(t, `"color": a v1.PodSpec has no such field`, kube.FromREST[*newerPod](config, kube.WithResource(podResource)))
	assertTold(t, "decoded in an unusual way", kube.FromREST[*quotedPod](config, kube.WithResource(podResource)))
	assertTold(t, "", kube.FromREST[*corev1.Pod](config))
	assertTold(t, "", kube.FromREST[*slimPod](config, kube.WithResource(podResource)))
	assertTold(t, "", kube.FromREST[*unstructured.Unstructured](config, kube.WithResource(podResource)))
	assertTold(t, "", kube.FromREST[*corev1.Pod](nil))
}

// quotedPod contains a field that no plan decodes.
type quotedPod struct {
	metav1.ObjectMeta `json:"metadata"`
	N                 int `json:"n,string"`
}

func assertTold[T index.Object](t *testing.T, reason string, src source.Source[T]) {
	t.Helper()
	slow := source.OriginOf(src).Slow
	assert.Equal(t, reason == "", slow == "", slow)
	assert.Contains(t, slow, reason)
	ctx, lines := rig.Lines()
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	_ = src.Run(ctx, &mirrorSink[T]{to: newMirror()})
	told := strings.Join(lines(), "\n")
	assert.Equal(t, reason != "", strings.Contains(told, "without a plan"), told)
}

// TestCBORIsLeftToClientGo: a drop-in leaves an answer to who has asked for it in a format
// that is not decoded here.
func TestCBORIsLeftToClientGo(t *testing.T) { synctest.Test(t, testCBORIsLeftToClientGo) }

func testCBORIsLeftToClientGo(t *testing.T) {
	var text bytes.Buffer
	serializer := cbor.NewSerializer(scheme.Scheme, scheme.Scheme)
	require.NoError(t, serializer.Encode(&unstructured.UnstructuredList{
		Object: map[string]any{"apiVersion": "v1", "kind": "PodList", "metadata": map[string]any{"resourceVersion": "7"}},
		Items:  []unstructured.Unstructured{{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a"}}}},
	}, &text))
	config := serving(text.Bytes(), nil, http.Header{"Content-Type": {runtime.ContentTypeCBOR}})
	config.Wrap(kube.DecodingTransport)
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	lw, err := kube.NewDecodingListerWatcher(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host, nil)
			require.NoError(t, err)
			answer, err := client.Do(request)
			require.NoError(t, err)
			defer answer.Body.Close() //nolint:errcheck // it has been read
			text, err := io.ReadAll(answer.Body)
			require.NoError(t, err)
			list, _, err := serializer.Decode(text, nil, &unstructured.UnstructuredList{})
			return list, err
		},
	}, &unstructured.Unstructured{}, podKind, nil)
	require.NoError(t, err)
	list, err := lw.List(metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.(*unstructured.UnstructuredList).Items, 1, "client-go's own list")
	assert.Equal(t, "a", list.(*unstructured.UnstructuredList).Items[0].GetName())

	informer := typed.NewInformer(kube.FromREST[*unstructured.Unstructured](config, kube.WithResource(podResource)))
	assertNotSynced(t, informer, `content type "application/cbor", where one of ["application/json"] was asked for`)
}
