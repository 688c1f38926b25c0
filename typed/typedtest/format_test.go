package typedtest_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/typed/typedtest"
)

func dynamicClient(t *testing.T, s *typedtest.Server) *dynamic.DynamicClient {
	t.Helper()
	client, err := dynamic.NewForConfig(s.Config())
	require.NoError(t, err)
	return client
}

// do sends a request as it is and returns the answer, whose body ends with the
// test.
func do(t *testing.T, ctx context.Context, s *typedtest.Server, method, path string, header http.Header, body string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, s.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header = header
	response, err := s.Config().Transport.RoundTrip(request)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, response.Body.Close()) })
	return response
}

// What conformance does not ask of every server.
func TestNegotiation(t *testing.T) {
	ctx := testContext(t)
	s := typedtest.Start(t)
	const (
		pods  = "/api/v1/pods"
		table = "application/json;as=Table;g=meta.k8s.io;v=v1"
	)
	for _, test := range []struct {
		path, accept string
		code         int
		contentType  string
	}{
		{pods, "application/cbor", 200, "application/cbor"},
		{pods + "?watch=1", "application/cbor", 200, "application/cbor-seq"},
		{pods, table + ",application/json", 200, "application/json"},
		{pods, table, 406, "application/json"},
		{pods, "application/json;as=PartialObjectMetadata;g=other;v=v1", 406, "application/json"},
		{"/api/v1/namespaces/default/pods/p/exec", "", 404, "application/json"},
		{"/healthz", "", 200, "text/plain"},
		{"/openapi/v2", "", 404, "application/json"},
	} {
		response := do(t, ctx, s, http.MethodGet, test.path, http.Header{"Accept": {test.accept}}, "")
		assert.Equal(t, test.code, response.StatusCode, "%v", test)
		assert.Equal(t, test.contentType, response.Header.Get("Content-Type"), "%v", test)
	}
}

func TestApplyIsRefused(t *testing.T) {
	ctx := testContext(t)
	s := typedtest.Start(t)
	require.NoError(t, s.Create(ctx, pod("p")))
	_, err := clientset(t, s, "").CoreV1().Pods("default").Patch(ctx, "p", types.ApplyPatchType, []byte("{}"), metav1.PatchOptions{FieldManager: "me"})
	assert.True(t, apierrors.IsUnsupportedMediaType(err), "%v", err)
}

func TestCBOR(t *testing.T) {
	ctx := testContext(t)
	s := typedtest.Start(t)
	require.NoError(t, s.Create(ctx, pod("p")))
	response := do(t, ctx, s, http.MethodGet, "/api/v1/namespaces/default/pods/p", http.Header{"Accept": {"application/cbor"}}, "")
	data, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	codec := cbor.NewSerializer(scheme.Scheme, scheme.Scheme)
	obj, _, err := codec.Decode(data, nil, nil)
	require.NoError(t, err)
	assert.Equal(t, "p", obj.(*corev1.Pod).Name)

	changed := obj.(*corev1.Pod)
	changed.Labels = map[string]string{"spelled": "cbor"}
	var body strings.Builder
	require.NoError(t, codec.Encode(changed, &body))
	response = do(t, ctx, s, http.MethodPut, "/api/v1/namespaces/default/pods/p", http.Header{"Content-Type": {"application/cbor"}}, body.String())
	answer, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, response.StatusCode, "%s", answer)
	got, err := clientset(t, s, runtime.ContentTypeProtobuf).CoreV1().Pods("default").Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "cbor", got.Labels["spelled"])

	body.Reset()
	require.NoError(t, codec.Encode(&metav1.DeleteOptions{
		TypeMeta:      metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "apps/v1"},
		Preconditions: metav1.NewUIDPreconditions("another"),
	}, &body))
	response = do(t, ctx, s, http.MethodDelete, "/api/v1/namespaces/default/pods/p", http.Header{"Content-Type": {"application/cbor"}}, body.String())
	assert.Equal(t, http.StatusConflict, response.StatusCode)
}
