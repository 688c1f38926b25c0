package conformance

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// do sends a request to the server of the check, see Do.
func (c *check) do(method, path string, header http.Header, body string) (code int, contentType, answer string) {
	c.Helper()
	return Do(c.ctx, c.T, c.config, method, path, header, body)
}

// Do sends a request and returns the code, the content type and, unless the code is
// 200, the body of the answer. As any client has to, it sends the request again when
// the server asks for that: kube-apiserver does so for some time after a custom
// resource was made, while it sets up the storage.
func Do(ctx context.Context, t *testing.T, config *rest.Config, method, path string, header http.Header, body string) (code int, contentType, answer string) {
	t.Helper()
	const most = 10 // as client-go
	for range most {
		var after string
		code, contentType, answer, after = send(ctx, t, config, method, path, header, body)
		if code != http.StatusTooManyRequests || after == "" {
			break
		}
		seconds, err := strconv.Atoi(after)
		require.NoError(t, err, "Retry-After of %s %s", method, path)
		select {
		case <-time.After(time.Duration(seconds) * time.Second):
		case <-ctx.Done():
			require.NoError(t, ctx.Err())
		}
	}
	return code, contentType, answer
}

// send sends a request once. It returns what Do does, and when to come again.
func send(ctx context.Context, t *testing.T, config *rest.Config, method, path string, header http.Header, body string) (code int, contentType, answer, after string) {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	base, _, err := rest.DefaultServerUrlFor(config)
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(base.String(), "/")+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header = header
	response, err := client.Do(request)
	require.NoError(t, err)
	defer func() { assert.NoError(t, response.Body.Close()) }()
	contentType = response.Header.Get("Content-Type")
	if response.StatusCode == http.StatusOK {
		return response.StatusCode, contentType, "", ""
	}
	data, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, contentType, string(data), response.Header.Get("Retry-After")
}

func testBodies(c *check) {
	path := c.mapsPath()
	for _, test := range []struct {
		method, path, contentType, body string
		code                            int
	}{
		{"POST", path, "application/json", `{"metadata":{"name":"json"}}`, 201},
		{"POST", path, "", `{"metadata":{"name":"untold"}}`, 201},
		{"POST", path, "application/yaml", "metadata: {name: yaml}", 201},
		{"POST", path, "application/json", `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`, 400},
		{"POST", path, "application/json", `{"kind":"ConfigMap","apiVersion":"apps/v1","metadata":{"name":"a"}}`, 400},
		{"POST", path, "application/json", `{`, 400},
		{"POST", path, "application/vnd.kubernetes.protobuf", `{}`, 400},
		{"POST", path, "text/plain", `{}`, 415},
		{"POST", path, "application/json", strings.Repeat(" ", 3<<20+1), 413},
		{"POST", path + "?dryRun=Some", "application/json", `{"metadata":{"name":"a"}}`, 422},
		{"POST", "/api/v1/configmaps", "application/json", `{"metadata":{"name":"a"}}`, 405},
		{"PUT", path + "/json", "application/json", `{"metadata":{"name":"yaml"}}`, 400},
		{"PUT", path, "application/json", `{"metadata":{"name":"yaml"}}`, 405},
		{"PATCH", path + "/json", "application/json", `{}`, 415},
		{"DELETE", path + "/json", "application/json", `{"dryRun":["Some"]}`, 422},
		{"DELETE", path + "/json", "application/json", `{"propagationPolicy":"Sometimes"}`, 422},
		{"DELETE", path + "/json?propagationPolicy=Background", "", "", 200},
		{"DELETE", path + "/json", "", "", 404},
		{"GET", "/api/v1/things", "", "", 404},
		{"GET", "/apis/nobody.example.com/v1/things", "", "", 404},
		{"GET", path + "/yaml/status", "", "", 404},
	} {
		code, _, body := c.do(test.method, test.path, http.Header{"Content-Type": {test.contentType}}, test.body)
		if len(test.body) > 1000 {
			test.body = "…"
		}
		assert.Equal(c, test.code, code, "%v: %s", test, body)
	}
}

func testAccept(c *check) {
	const (
		proto   = "application/vnd.kubernetes.protobuf"
		partial = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	)
	maps := c.mapsPath()
	type row struct {
		path, accept string
		code         int
		contentType  string
	}
	rows := []row{
		{maps, "", 200, "application/json"},
		{maps, "*/*", 200, "application/json"},
		{maps, "application/yaml", 200, "application/yaml"},
		{maps, proto, 200, proto},
		{maps, proto + ";q=0.5,application/json", 200, "application/json"},
		{maps, proto + partial, 200, proto},
		{maps, "image/png", 406, ""},
		{maps + "?watch=1", "application/yaml", 406, ""},
		{maps + "?watch=1", proto, 200, proto + ";stream=watch"},
		{maps + "?watch=1", "application/json", 200, "application/json"},
		{maps + "?watch=1&resourceVersion=seven", "", 500, "application/json"},
		{maps + "/absent", proto, 404, proto},
		{maps + "/absent", proto + partial, 404, "application/json"},
	}
	if c.rig.CustomKind != "" {
		custom := c.customPath()
		rows = append(rows,
			row{custom, proto + ",application/json", 200, "application/json"},
			row{custom, proto, 406, ""},
			row{custom, proto + partial, 200, proto},
		)
	}
	for _, test := range rows {
		code, contentType, body := c.do(http.MethodGet, test.path, http.Header{"Accept": {test.accept}}, "")
		assert.Equal(c, test.code, code, "%v: %s", test, body)
		if test.contentType != "" {
			assert.Equal(c, test.contentType, contentType, "%v", test)
		}
	}
}

func testClusterScoped(c *check) {
	roles := c.client.RbacV1().ClusterRoles()
	name := c.ns + ":role"
	created := mustCreate(c, roles, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"of": c.ns}}})
	assert.Empty(c, created.Namespace)
	w := c.watchOf(roles, metav1.ListOptions{ResourceVersion: created.ResourceVersion, LabelSelector: "of=" + c.ns})
	list, err := roles.List(c.ctx, metav1.ListOptions{LabelSelector: "of=" + c.ns})
	require.NoError(c, err)
	require.Len(c, list.Items, 1)
	require.NoError(c, roles.Delete(c.ctx, name, metav1.DeleteOptions{}))
	c.nextOf(w, watch.Deleted, name, "")
}
