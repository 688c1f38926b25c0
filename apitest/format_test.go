package apitest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/dynamic"

	"github.com/kubetyped/informer/apitest"
)

func dynamicClient(t *testing.T, s *apitest.Server) *dynamic.DynamicClient {
	t.Helper()
	client, err := dynamic.NewForConfig(s.Config())
	require.NoError(t, err)
	return client
}

// do sends a request as it is and returns the answer, whose body ends with the
// test.
func do(t *testing.T, ctx context.Context, s *apitest.Server, method, path string, header http.Header, body string) *http.Response {
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
	s := apitest.Start(t)
	const (
		pods  = "/api/v1/pods"
		table = "application/json;as=Table;g=meta.k8s.io;v=v1"
	)
	for _, test := range []struct {
		path, accept string
		code         int
		contentType  string
	}{
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
