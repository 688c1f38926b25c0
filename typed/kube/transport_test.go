package kube_test

import (
	"io"
	"net/http"
	"strings"

	"k8s.io/client-go/rest"
)

// transport answers requests that a test is interested in, and passes on others.
type transport struct {
	http.RoundTripper
	answer func(*http.Request) *http.Response // nil: pass on
}

func (tr transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if response := tr.answer(r); response != nil {
		response.Request = r
		return response, nil
	}
	return tr.RoundTripper.RoundTrip(r)
}

func with(config *rest.Config, answer func(*http.Request) *http.Response) *rest.Config {
	config.Wrap(func(base http.RoundTripper) http.RoundTripper { return transport{base, answer} })
	return config
}

func response(code int, body string) *http.Response {
	return &http.Response{
		StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
	}
}
