package inspect_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/inspect"
)

// answered returns the status of the answer to a request with some headers.
func answered(inspector http.Handler, target, host string, headers ...string) int {
	r := httptest.NewRequest(http.MethodHead, target, nil)
	r.Host = host
	for n := 0; n < len(headers); n += 2 {
		r.Header.Set(headers[n], headers[n+1])
	}
	w := httptest.NewRecorder()
	inspector.ServeHTTP(w, r)
	return w.Code
}

// TestForeignHosts: a name that a foreign page may have been given is not answered.
func TestForeignHosts(t *testing.T) {
	inspector := newInspector(t, inspect.WithHosts("Ops.example.org", "*.tools.example.org"))
	for host, want := range map[string]int{
		"127.0.0.1:8080": http.StatusOK, "[::1]:8080": http.StatusOK, "[fd00::1]": http.StatusOK, "10.0.0.7": http.StatusOK,
		"localhost:6060": http.StatusOK, "LOCALHOST": http.StatusOK, "a.localhost": http.StatusOK, "controller:8080": http.StatusOK,
		"pods.shop.svc:8080": http.StatusOK, "pods.shop.svc.cluster.local": http.StatusOK, "": http.StatusOK,
		"ops.example.org": http.StatusOK, "OPS.example.org.:443": http.StatusOK, "a.tools.example.org": http.StatusOK,
		"tools.example.org": http.StatusForbidden, "a.ops.example.org": http.StatusForbidden,
		"evil.test": http.StatusForbidden, "evil.test:8080": http.StatusForbidden, "127.0.0.1.evil.test": http.StatusForbidden,
		"localhost.evil.test": http.StatusForbidden, "evilops.example.org": http.StatusForbidden,
	} {
		for _, target := range []string{"/", "/?format=json", "/?key=a", "/events"} {
			assert.Equal(t, want, answered(inspector, target, host), "%s at %s", target, host)
		}
	}
	assert.Equal(t, http.StatusOK, answered(newInspector(t, inspect.WithHosts("*")), "/", "evil.test"))
	for _, name := range []string{"", "http://a", "a:80", "a*b", "a/b"} {
		_, err := inspect.New(inspect.WithHosts(name))
		assert.ErrorContains(t, err, "is no name of a host", name)
	}
}

// TestForeignPages: what a foreign page asks for is not answered, but a link may be followed.
func TestForeignPages(t *testing.T) {
	inspector := newInspector(t, inspect.WithHosts("ops.example.org"))
	for _, test := range []struct {
		target  string
		headers []string
		want    int
	}{
		{"/", []string{"Sec-Fetch-Site", "none"}, http.StatusOK},
		{"/?events=page", []string{"Sec-Fetch-Site", "same-origin"}, http.StatusOK},
		{"/?format=json", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"}, http.StatusForbidden},
		{"/events", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"}, http.StatusForbidden},
		{"/events", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, http.StatusForbidden},
		{"/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, http.StatusOK},
		{"/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, http.StatusForbidden},
		{"/events", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, http.StatusForbidden},
		{"/events", []string{"Origin", "http://evil.test"}, http.StatusForbidden},
		{"/events", []string{"Origin", "null"}, http.StatusForbidden},
		{"/events", []string{"Origin", "http://localhost:6060"}, http.StatusOK},
		{"/events", []string{"Origin", "https://ops.example.org"}, http.StatusOK},
	} {
		assert.Equal(t, test.want, answered(inspector, test.target, "localhost:6060", test.headers...), test)
	}
}

// TestLongErrors: the text of an error is cut, wherever it is shown.
func TestLongErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, err := queue.NewWorkQueue[index.Key](queue.WithName("long"))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- q.Run(ctx, 1, func(context.Context, index.Key) error { return errors.New(strings.Repeat("é", 1<<20)) })
		}()
		for _, name := range []string{"a", "b", "c", "d"} {
			q.Add(index.Key{Name: name})
		}
		synctest.Wait()
		inspector := newInspector(t, inspect.WithQueue(q))
		for _, target := range []string{"/", "/?format=json", "/?key=a"} {
			answer := get(t, inspector, target)
			assert.Less(t, answer.Body.Len(), 100<<10, target)
			assert.Contains(t, answer.Body.String(), "éé … (2.0 MiB in all)", target)
		}
		cancel()
		require.NoError(t, <-ended)
	})
}
