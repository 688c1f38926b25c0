package answers

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	// longest is how long a caller is held for reads to have what it has written.
	longest = time.Second
	// maxAnswer is the size of the answers that are copied; etcd takes objects of 1.5 MiB.
	maxAnswer = 8 << 20
)

// transport reads the answers to writes, and passes all requests on as they are.
type transport struct {
	base    http.RoundTripper
	answers *Answers
	prefix  string // of the paths of the server
}

// WrappedRoundTripper implements apimachinery's net.RoundTripperWrapper.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.base }

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		t.answers.mark(r, t.prefix)
		return t.base.RoundTrip(r)
	}
	number := t.answers.begun.Add(1)
	response, err := t.base.RoundTrip(r)
	of, ok := targetOf(r.URL, t.prefix)
	if !ok || len(t.answers.receiversOf(of.GroupVersionResource, of.namespace)) == 0 {
		return response, err // there is no source of it
	}
	if reason := dismiss(r, of, response, err); reason != "" {
		t.answers.leaveOut(r.Context(), of.GroupVersionResource, reason)
		return response, err
	}
	text, reason := copyBody(response)
	if reason == "" {
		text, reason = plain(response, text)
	}
	var a *answer
	if reason == "" {
		a, reason = read(r.Method, of, response, text)
	}
	if reason != "" {
		t.answers.leaveOut(r.Context(), of.GroupVersionResource, reason)
		return response, nil
	}
	a.write, a.begun = number, t.answers.begun.Load()
	t.answers.deliver(r.Context(), a)
	return response, nil
}

// dismiss returns why the answer to a write says nothing of an object, "" if it may.
func dismiss(r *http.Request, of target, response *http.Response, err error) Reason {
	switch {
	case err != nil || response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated && response.StatusCode != http.StatusAccepted:
		return Failed
	case !answersItself[of.subresource]:
		return Subresource
	case of.name == "" && r.Method != http.MethodPost:
		return Collection
	case r.Method == http.MethodDelete && of.subresource != "":
		return Subresource
	case isDryRun(r):
		return DryRun
	}
	return ""
}

// isDryRun reports whether a write is none, or that is not known.
func isDryRun(r *http.Request) bool {
	if r.URL.Query().Has("dryRun") {
		return true
	}
	if r.Method != http.MethodDelete || r.Body == nil || r.Body == http.NoBody {
		return false
	}
	if r.GetBody == nil {
		return true
	}
	body, err := r.GetBody()
	if err != nil {
		return true
	}
	defer body.Close() //nolint:errcheck // it is a copy
	text, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	if err != nil {
		return true
	}
	var opts metav1.DeleteOptions
	if message, ok := unwrap(text); ok {
		err = opts.Unmarshal(message.Raw)
	} else {
		err = json.Unmarshal(text, &opts)
	}
	return err != nil || len(opts.DryRun) > 0
}

// copyBody reads the body of a response, and gives the response one that is read again.
func copyBody(response *http.Response) ([]byte, Reason) {
	if response.ContentLength > maxAnswer {
		return nil, Large
	}
	text, err := readAll(response)
	rest := response.Body
	again := io.MultiReader(bytes.NewReader(text), rest)
	if err != nil {
		again = io.MultiReader(bytes.NewReader(text), brokenOff{err})
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{again, rest}
	switch {
	case err != nil:
		return nil, Broken
	case len(text) > maxAnswer:
		return nil, Large
	}
	return text, ""
}

// readAll reads the body of a response, or a byte more than is copied.
func readAll(response *http.Response) ([]byte, error) {
	limited := io.LimitReader(response.Body, maxAnswer+1)
	if response.ContentLength <= 0 {
		return io.ReadAll(limited)
	}
	var text bytes.Buffer
	text.Grow(int(response.ContentLength) + bytes.MinRead) // so that it does not grow at the end
	_, err := text.ReadFrom(limited)
	return text.Bytes(), err
}

// brokenOff is the rest of a body that could not be read.
type brokenOff struct{ err error }

// Read implements io.Reader.
func (b brokenOff) Read([]byte) (int, error) { return 0, b.err }

// plain returns the text of a body as it was before it was compressed.
func plain(response *http.Response, text []byte) ([]byte, Reason) {
	switch coding := response.Header.Get("Content-Encoding"); {
	case coding == "" || coding == "identity":
		return text, ""
	case !strings.EqualFold(coding, "gzip"):
		return nil, Format
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, Broken
	}
	text, err = io.ReadAll(io.LimitReader(unzipped, maxAnswer+1))
	switch {
	case err != nil:
		return nil, Broken
	case len(text) > maxAnswer:
		return nil, Large
	}
	return text, ""
}

// unwrap returns an object that was sent in protobuf, with its kind.
func unwrap(text []byte) (message runtime.Unknown, ok bool) {
	object, ok := bytes.CutPrefix(text, []byte("k8s\x00"))
	return message, ok && message.Unmarshal(object) == nil
}

// deliver hands an answer to its receivers, and holds the caller until reads have it.
func (w *Answers) deliver(ctx context.Context, a *answer) {
	wanting := w.receiversOf(a.of.GroupVersionResource, a.key.Namespace)
	read := make([]<-chan struct{}, len(wanting))
	for i, r := range wanting {
		read[i] = r.offer(a)
	}
	limit := time.NewTimer(longest)
	defer limit.Stop()
	for i, r := range wanting {
		if read[i] == nil {
			continue
		}
		select {
		case <-read[i]:
		case <-r.ended():
		case <-ctx.Done():
			return
		case <-limit.C:
			w.late.Add(1)
			return
		}
	}
}

// errUnmarked is what a first list is that was not made by a client of the Writes.
var errUnmarked = errors.New("own writes: the first list was made by a client of another configuration, or by a fake one: make clients, and sources, with the configuration that Writes.Config returns")

// markKey is the key under which the context of lists and watches has a marked.
type markKey struct{}

// marked is who makes lists and watches, and is called for those that clients of the same
// Answers make for it.
type marked interface {
	requested(w *Answers, t target, r *http.Request)
}

// mark calls the marked of a request, if there is one.
func (w *Answers) mark(r *http.Request, prefix string) {
	m, ok := r.Context().Value(markKey{}).(marked)
	if !ok {
		return
	}
	if t, ok := targetOf(r.URL, prefix); ok {
		m.requested(w, t, r)
	}
}

// withMark returns a context whose requests m is called for.
func withMark(ctx context.Context, m marked) context.Context {
	return context.WithValue(ctx, markKey{}, m)
}
