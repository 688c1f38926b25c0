package apitest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
)

// unheard is how many requests from another bubble get an error before the transport panics: it
// then assumes that the caller ignores the errors. Informers retry for ever, and in a bubble
// they need not wait for that.
const unheard = 100

// transport is that of the clients of a server, all of which share its connections.
type transport struct {
	*http.Transport
	home    home
	refused atomic.Int64
}

// newTransport returns a transport whose connections are made by dial, or over
// sockets if that is nil.
func newTransport(home home, dial func(context.Context) (net.Conn, error)) *transport {
	t := &transport{home: home, Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
	if dial != nil {
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
	}
	return t
}

// host returns where the server listens.
func (s *Server) host() string { return strings.TrimPrefix(s.URL, "http://") }

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.home.check(); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		if t.refused.Add(1) > unheard {
			panic(fmt.Errorf("apitest: %w", err))
		}
		return nil, err
	}
	return t.Transport.RoundTrip(r)
}
