package proxy

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// newTransport returns what reaches the API server. It adds no credentials but a
// client certificate. The connections of a transport made here end with ctx.
func newTransport(ctx context.Context, upstream *rest.Config) (http.RoundTripper, error) {
	if upstream.Transport != nil {
		return upstream.Transport, nil
	}
	tlsConfig, err := rest.TLSConfigFor(upstream)
	if err != nil {
		return nil, fmt.Errorf("TLS settings of the API server: %w", err)
	}
	dial := upstream.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	}
	return &http.Transport{
		Proxy:             upstream.Proxy,
		TLSClientConfig:   tlsConfig,
		ForceAttemptHTTP2: true,
		// Answers pass as they are.
		DisableCompression:  true,
		MaxIdleConnsPerHost: 64,
		DialContext: func(dialing context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(dialing, network, address)
			if err == nil {
				// CloseIdleConnections would leave those that are just
				// becoming idle.
				context.AfterFunc(ctx, func() { _ = conn.Close() })
			}
			return conn, err
		},
	}, nil
}
