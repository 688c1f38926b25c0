// Package traffic counts what a client sends and receives.
package traffic

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// Counter counts the traffic of clients. It is safe for concurrent use.
type Counter struct {
	requests, connections, bytes, wide, watches atomic.Int64
}

// Counts are the counts until now.
type Counts struct {
	Requests    int64 // with those that failed
	Connections int64 // opened for requests
	Bytes       int64 // of the bodies of answers, after decompression
	Wide        int64 // lists and watches of Secrets that are not of one name
	Watches     int64 // answered, and open now
}

// Count makes the clients of a configuration count.
func (c *Counter) Count(config *rest.Config) {
	config.Wrap(func(of http.RoundTripper) http.RoundTripper { return transport{of, c} })
}

// Counts returns the counts until now.
func (c *Counter) Counts() Counts {
	return Counts{c.requests.Load(), c.connections.Load(), c.bytes.Load(), c.wide.Load(), c.watches.Load()}
}

type transport struct {
	http.RoundTripper
	*Counter
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.requests.Add(1)
	if isWide(r) {
		t.wide.Add(1)
	}
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if !info.Reused {
			t.connections.Add(1)
		}
	}}
	answer, err := t.RoundTripper.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	if err != nil {
		return answer, err
	}
	counted := &body{ReadCloser: answer.Body, of: t.Counter}
	if r.URL.Query().Get("watch") != "" && answer.StatusCode == http.StatusOK {
		counted.watch = true
		t.watches.Add(1)
	}
	answer.Body = counted
	return answer, nil
}

// isWide reports whether a request is a list or a watch of Secrets that is not of one name.
func isWide(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/secrets") &&
		!strings.HasPrefix(r.URL.Query().Get("fieldSelector"), "metadata.name=")
}

// body is the body of an answer.
type body struct {
	io.ReadCloser
	of    *Counter
	watch bool
	ended sync.Once
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.of.bytes.Add(int64(n))
	if err != nil {
		b.end()
	}
	return n, err
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.end()
	return b.ReadCloser.Close()
}

func (b *body) end() {
	if b.watch {
		b.ended.Do(func() { b.of.watches.Add(-1) })
	}
}
