package proxy_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/e2e/proxy"
	"github.com/kubetyped/informer/internal/test/conformance"
)

// The suite does not know of the proxy: lists, watches, patches and errors pass
// unchanged.
func TestTrafficIsUnharmed(t *testing.T) {
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	s := apitest.Start(t, apitest.WithResources(apitest.Resource{GroupVersionResource: widgets, Kind: "Widget", Status: true, Scale: true}))
	p := start(t, s.Config())
	var namespaces atomic.Int32 // checks run at the same time
	conformance.TestServer(t, func(t *testing.T) conformance.Rig {
		return conformance.Rig{
			Config: p.Config(), Namespace: fmt.Sprint("conformance-", namespaces.Add(1)),
			CustomResource: widgets, CustomKind: "Widget",
			Compact: func(context.Context) error { s.Compact(); return nil },
		}
	})
}

func TestProtocols(t *testing.T) {
	for _, test := range []struct {
		protocols []string
		want      string
	}{
		{nil, "HTTP/2.0"},
		{[]string{"http/1.1"}, "HTTP/1.1"},
	} {
		t.Run(test.want, func(t *testing.T) {
			r := newRig(t)
			config := r.proxy.Config()
			config.NextProtos = test.protocols
			client, err := rest.HTTPClientFor(config)
			require.NoError(t, err)
			request, err := http.NewRequestWithContext(r.ctx, http.MethodGet, config.Host+"/version", nil)
			require.NoError(t, err)
			response, err := client.Do(request)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			assert.Equal(t, test.want, response.Proto)

			w := r.watchPods(r.clientOf(config))
			r.create("a")
			assert.Equal(t, "a", r.name(w), "before the answer ends")
		})
	}
}

// TestUpstream uses an API server with TLS, a path before its API, and an eye on
// what reaches it.
func TestUpstream(t *testing.T) {
	type seen struct {
		path, token, encoding, protocol string
		certificate                     bool
	}
	requests := make(chan seen, 1)
	closed := make(chan struct{}, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- seen{r.URL.RequestURI(), r.Header.Get("Authorization"), r.Header.Get("Accept-Encoding"), r.Proto, len(r.TLS.PeerCertificates) > 0}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	cert, key, err := certutil.GenerateSelfSignedCertKey("client", nil, nil)
	require.NoError(t, err)
	p := start(t, &rest.Config{
		Host:            server.URL + "/clusters/one",
		BearerToken:     "secret",
		TLSClientConfig: rest.TLSClientConfig{Insecure: true, CertData: cert, KeyData: key},
	})

	config := p.Config()
	assert.Equal(t, "secret", config.BearerToken)
	assert.Empty(t, config.CertData)
	assert.False(t, config.Insecure)
	config.BearerToken = "revoked"
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	for query, encoding := range map[string]string{"limit=5": "gzip", "watch=true": ""} {
		response, err := client.Get(config.Host + "/api/v1/pods?" + query)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusUnauthorized, response.StatusCode, "the API server's own")
		assert.Equal(t, seen{"/clusters/one/api/v1/pods?" + query, "Bearer revoked", encoding, "HTTP/2.0", true}, <-requests)
	}
	assert.Zero(t, p.Watches(""), "a watch that is refused is none")

	require.NoError(t, p.Close())
	select {
	case <-closed:
	case <-time.After(patience):
		assert.Fail(t, "the connection to the API server is left open")
	}
}

func TestUpstreamIsGone(t *testing.T) {
	r := newRig(t)
	w := r.watchPods(r.client())
	r.waitFor(func() bool { return r.proxy.Watches("pods") == 1 })

	require.NoError(t, r.server.Close())

	r.waitFor(func() bool { return r.proxy.Watches("") == 0 })
	for range w.ResultChan() {
		// The client may receive it as an event.
	}
	_, err := r.client().CoreV1().Pods("").List(r.ctx, metav1.ListOptions{})
	assertNoAnswer(t, err)
	assert.Equal(t, 1, r.proxy.Requests("list", "pods"))
	assert.Zero(t, r.proxy.Responses("list", "pods", 0))
}

func TestCounts(t *testing.T) {
	r := newRig(t)
	client := r.client()
	r.create("a")
	_, err := client.CoreV1().Pods("default").Get(r.ctx, "a", metav1.GetOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().Pods("default").Get(r.ctx, "b", metav1.GetOptions{})
	require.Error(t, err)
	_, err = client.AppsV1().Deployments("").List(r.ctx, metav1.ListOptions{})
	require.NoError(t, err)
	_, err = client.Discovery().ServerVersion()
	require.NoError(t, err)
	r.watchPods(client)
	r.waitFor(func() bool { return r.proxy.Watches("pods") == 1 })

	p := r.proxy
	assert.Equal(t, 5, p.Requests("", ""))
	assert.Equal(t, 3, p.Requests("get", ""))
	assert.Equal(t, 2, p.Requests("get", "pods"))
	assert.Equal(t, 1, p.Requests("list", "deployments.apps"))
	assert.Zero(t, p.Requests("list", "deployments.example.com"))
	assert.Equal(t, 1, p.Responses("get", "pods", 404))
	assert.Equal(t, 4, p.Responses("", "", 200))
	assert.Equal(t, 5, p.Responses("", "", 0))
	assert.Equal(t, 1, p.Watches(""))
	assert.Zero(t, p.Watches("configmaps"))
	assert.Zero(t, p.Cuts(""))
	assert.Equal(t, 1, p.Connections(), "HTTP/2 needs one")
}

func TestWaitForReportsTheLastState(t *testing.T) {
	r := newRig(t)
	r.watchPods(r.client())
	r.waitFor(func() bool { return r.proxy.Watches("") == 1 })
	ctx, cancel := context.WithTimeout(r.ctx, moment)
	defer cancel()
	err := r.proxy.WaitFor(ctx, func() bool { return r.proxy.Watches("") == 2 })
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, "1 requests, 1 answers, 0 cuts; open: 1 watches, 1 connections")
}

func TestStartReturnsBadArguments(t *testing.T) {
	good := &rest.Config{Host: "http://127.0.0.1:1"}
	for name, test := range map[string]struct {
		upstream *rest.Config
		opts     []proxy.Option
		want     string
	}{
		"NoConfig":  {nil, nil, "configuration of the API server is nil"},
		"BadHost":   {&rest.Config{Host: "http://[::"}, nil, "host must be a URL"},
		"BadCA":     {&rest.Config{Host: "https://h", TLSClientConfig: rest.TLSClientConfig{CAFile: "no/such/file"}}, nil, "no such file"},
		"NilWriter": {good, []proxy.Option{proxy.WithLog(nil)}, "WithLog: writer is nil"},
		"NilOption": {good, []proxy.Option{nil}, "option is nil"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := proxy.Start(test.upstream, test.opts...)
			assert.Nil(t, p)
			assert.ErrorContains(t, err, test.want)
		})
	}
}
