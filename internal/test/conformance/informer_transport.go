package conformance

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// config returns a copy of a configuration, for clients whose requests for a
// resource pass the gate.
func (g *gate) config(of *rest.Config, resource string) *rest.Config {
	config := rest.CopyConfig(of)
	config.Wrap(func(base http.RoundTripper) http.RoundTripper { return gatedTransport{g, resource, base} })
	return config
}

// gatedTransport is a client's transport behind a gate.
type gatedTransport struct {
	gate     *gate
	resource string
	base     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t gatedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if path.Base(request.URL.Path) != t.resource {
		return t.base.RoundTrip(request) // it is discovery
	}
	query := request.URL.Query()
	if !query.Has("watch") {
		if err := t.gate.passList(request.Context()); err != nil {
			return nil, err
		}
		return t.base.RoundTrip(request)
	}
	ending, err := t.gate.admitWatch(request.Context(), query.Has("sendInitialEvents"))
	if err != nil {
		return refuse(request, err)
	}
	ctx, cancel := context.WithCancel(request.Context())
	response, err := t.base.RoundTrip(request.Clone(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	body := &gatedBody{ReadCloser: response.Body, cancel: cancel, ending: ending, closed: make(chan struct{})}
	t.gate.relays.Go(body.watch)
	response.Body = body
	return response, nil
}

// refuse answers with an error as API servers do, without one.
func refuse(request *http.Request, err error) (*http.Response, error) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return nil, err
	}
	answer := status.Status()
	answer.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	data, err := stdjson.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: int(answer.Code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request,
		Header: http.Header{"Content-Type": {runtime.ContentTypeJSON}},
		Body:   io.NopCloser(bytes.NewReader(data)),
	}, nil
}

// gatedBody is the response to a watch, which ends when the gate says so.
type gatedBody struct {
	io.ReadCloser
	cancel context.CancelFunc
	ending <-chan struct{}
	once   sync.Once
	closed chan struct{}
}

// watch ends the response when it is time.
func (b *gatedBody) watch() {
	select {
	case <-b.ending:
	case <-b.closed:
	}
	b.cancel()
}

// Read implements io.Reader. A response that was ended looks as if the server had
// done that, before anything that came later.
func (b *gatedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	select {
	case <-b.ending:
		return 0, io.EOF
	default:
		return n, err
	}
}

// Close implements io.Closer.
func (b *gatedBody) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.ReadCloser.Close()
}
