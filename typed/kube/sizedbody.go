package kube

import (
	"context"
	"io"
	"net/http"

	"k8s.io/client-go/tools/metrics"
)

// sizedBody is the body of a list. When it is closed, it reports to client-go's metric how much of
// it was read: client-go's REST client does not report bodies that it streams.
type sizedBody struct {
	io.ReadCloser
	ctx    context.Context
	host   string
	size   int
	closed bool
}

// Read implements io.Reader.
func (b *sizedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.size += n
	return n, err
}

// Close implements io.Closer.
func (b *sizedBody) Close() error {
	if !b.closed {
		b.closed = true
		metrics.ResponseSize.Observe(b.ctx, http.MethodGet, b.host, float64(b.size))
	}
	return b.ReadCloser.Close()
}
