package kube

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
)

// DecodingTransport returns a transport that makes requests by base, as it is, and lets a
// [DecodingListerWatcher] read the responses to those that are made for it. It refuses
// streamed lists without bookmarks, which do not end: the objects are listed. With a nil
// base, it is http.DefaultTransport.
func DecodingTransport(base http.RoundTripper) http.RoundTripper {
	return decodingTransport{cmp.Or(base, http.DefaultTransport)}
}

type decodingTransport struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t decodingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if query := request.URL.RawQuery; strings.Contains(query, "sendInitialEvents=true") && !strings.Contains(query, "allowWatchBookmarks=true") {
		return nil, errNotStreamed // the server would never send the bookmark at the end
	}
	response, err := t.base.RoundTrip(request)
	taker, ok := request.Context().Value(takerKey{}).(*taker)
	if !ok || err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	rest := taker.offer(response)
	if rest == nil {
		return response, nil
	}
	left := *response
	left.Body, left.ContentLength = rest, -1
	return &left, nil
}

// WrappedRoundTripper implements apimachinery's net.RoundTripperWrapper.
func (t decodingTransport) WrappedRoundTripper() http.RoundTripper { return t.base }

// taker reads the response to a request that other code makes.
type taker struct {
	// take takes a response, and returns the body that replaces its own, nil if it does not
	// take it. It is called by the goroutine that makes the request.
	take func(*http.Response) io.ReadCloser
	// several is called if there is another response after one that was taken.
	several func()

	mu        sync.Mutex
	responses int  // guarded by mu
	taken     bool // guarded by mu
}

// offer offers the first response to the taker, and returns the body that replaces its own, nil
// if the taker does not take it.
func (t *taker) offer(response *http.Response) io.ReadCloser {
	t.mu.Lock()
	t.responses++
	first, after := t.responses == 1, t.taken
	t.mu.Unlock()
	switch {
	case after && t.several != nil:
		t.several()
	case first:
		if rest := t.take(response); rest != nil {
			t.mu.Lock()
			t.taken = true
			t.mu.Unlock()
			return rest
		}
	}
	return nil
}

// offered reports whether there was a response.
func (t *taker) offered() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.responses > 0
}

// took reports whether the response was taken, and whether there were more responses.
func (t *taker) took() (taken, several bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.taken, t.taken && t.responses > 1
}

// takerKey is the key under which the context of a request has a *taker.
type takerKey struct{}

// with returns a context for requests whose responses the taker may have.
func (t *taker) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, takerKey{}, t)
}

// emptyBody replaces the body of a watch that a taker reads: Read blocks until Close, and then
// returns io.EOF.
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

// emptyList returns the body of a list in the format of a response, without the objects, so
// that the code that made the request can continue. The body is empty for a nil list.
func emptyList(response *http.Response, list k8sruntime.Object) io.ReadCloser {
	decoded, ok := list.(*wrappedList)
	if !ok {
		return http.NoBody
	}
	head := metav1.PartialObjectMetadataList{TypeMeta: decoded.TypeMeta, ListMeta: decoded.ListMeta, Items: []metav1.PartialObjectMetadata{}}
	mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	var body []byte
	var err error
	switch mediaType {
	case k8sruntime.ContentTypeJSON:
		body, err = json.Marshal(head)
	case k8sruntime.ContentTypeProtobuf: // in which the metadata is the same field of all lists
		unknown := k8sruntime.Unknown{TypeMeta: k8sruntime.TypeMeta{APIVersion: head.APIVersion, Kind: head.Kind}}
		if unknown.Raw, err = head.Marshal(); err == nil {
			body, err = unknown.Marshal()
			body = append([]byte("k8s\x00"), body...)
		}
	}
	if err != nil || body == nil {
		return http.NoBody
	}
	return io.NopCloser(bytes.NewReader(body))
}
