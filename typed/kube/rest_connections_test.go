package kube_test

import (
	"context"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// TestConnectionsOfSources: sources of one configuration share a connection to a server with HTTP/2.
// With Dial or Proxy, each source has one.
func TestConnectionsOfSources(t *testing.T) {
	srv, _ := rig.Serve(t, 1)
	upstream, err := url.Parse(srv.Config().Host)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		change func(*rest.Config)
		want   int64
	}{
		"as it is": {func(*rest.Config) {}, 1},
		"with Dial": {func(config *rest.Config) {
			config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, address)
			}
		}, 2},
		"with Proxy": {func(config *rest.Config) {
			config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var connections atomic.Int64
			front := httptest.NewUnstartedServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(upstream) }, FlushInterval: -1})
			front.EnableHTTP2 = true
			front.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					connections.Add(1)
				}
			}
			front.StartTLS()
			t.Cleanup(front.Close)
			t.Cleanup(front.CloseClientConnections)
			authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
			config := &rest.Config{Host: front.URL, TLSClientConfig: rest.TLSClientConfig{CAData: authority}}
			c.change(config)
			for range 2 {
				pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config))
				require.NoError(t, pods.WaitForSync(rig.Start(t, pods)))
			}
			assert.Equal(t, c.want, connections.Load())
		})
	}
}
