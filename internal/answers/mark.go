package answers

import (
	"context"
	"net/http"
)

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
