package kube

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// DecodingTransport returns a transport that makes requests by base, as it is, and lets a
// [DecodingListerWatcher] read the responses to those that are made for it. With a nil
// base, it is http.DefaultTransport.
func DecodingTransport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return decodingTransport{base}
}

type decodingTransport struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t decodingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.base.RoundTrip(request)
	taker, ok := request.Context().Value(takerKey{}).(*taker)
	if !ok || err != nil || response.StatusCode != http.StatusOK || taker.taken {
		return response, err
	}
	rest := taker.take(response)
	if rest == nil {
		return response, nil
	}
	taker.taken = true
	left := *response
	left.Body, left.ContentLength = rest, -1
	return &left, nil
}

// WrappedRoundTripper implements apimachinery's net.RoundTripperWrapper.
func (t decodingTransport) WrappedRoundTripper() http.RoundTripper { return t.base }

// taker is who reads the response to a request that somebody else makes.
type taker struct {
	// take takes a response, and returns what is left in its place, nil if it does not.
	// It is called on the goroutine of the one who makes the request.
	take  func(*http.Response) io.ReadCloser
	taken bool // owned by the goroutine of the one who makes the request
}

// takerKey is the key under which the context of a request has a *taker.
type takerKey struct{}

// with returns a context for requests whose responses the taker may have.
func (t *taker) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, takerKey{}, t)
}

// emptyBody is what is left of a watch whose events somebody else reads: nothing comes,
// and it ends when it is closed.
type emptyBody struct {
	closing sync.Once
	closed  chan struct{}
}

func newEmptyBody() *emptyBody { return &emptyBody{closed: make(chan struct{})} }

// Read implements io.Reader.
func (b *emptyBody) Read([]byte) (int, error) {
	<-b.closed
	return 0, io.EOF
}

// Close implements io.Closer.
func (b *emptyBody) Close() error {
	b.closing.Do(func() { close(b.closed) })
	return nil
}
