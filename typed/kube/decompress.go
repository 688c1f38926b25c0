package kube

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// decompressed returns a response as it was before it was compressed by gzip. Go's
// transport does so only if it has asked for that itself.
func decompressed(response *http.Response) *http.Response {
	if !strings.EqualFold(response.Header.Get("Content-Encoding"), "gzip") {
		return response
	}
	plain := *response
	plain.Header = response.Header.Clone()
	plain.Header.Del("Content-Encoding")
	plain.Header.Del("Content-Length")
	plain.ContentLength, plain.Uncompressed = -1, true
	plain.Body = &gunzipped{compressed: response.Body}
	return &plain
}

// gunzipped is a body that is decompressed while it is read.
type gunzipped struct {
	compressed io.ReadCloser
	r          *gzip.Reader // nil before the first read
	err        error        // that there is no reader
}

// Read implements io.Reader.
func (b *gunzipped) Read(into []byte) (int, error) {
	if b.r == nil && b.err == nil {
		b.r, b.err = gzip.NewReader(b.compressed)
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.r.Read(into)
}

// Close implements io.Closer.
func (b *gunzipped) Close() error { return b.compressed.Close() }
