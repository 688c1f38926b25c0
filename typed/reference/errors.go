package reference

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubetyped/informer/index"
)

// ErrLimit is what an error of Hold and Get wraps if there are more names than the limit.
var ErrLimit = errors.New("too many names")

// ErrCallback is what an error of Get wraps that would wait, and was called by a handler, an index
// function or a transform function of the informer that it would wait for.
var ErrCallback = errors.New("called by a callback of the informer, for which it would wait: add a key to a queue, and call it in the reconcile function")

// KeyError is the failure to follow one key. Others are not concerned.
type KeyError struct {
	// Key is the key.
	Key index.Key
	// Err is the failure.
	Err error
}

// Error implements error.
func (e *KeyError) Error() string { return fmt.Sprintf("object %s: %v", e.Key, e.Err) }

// Unwrap returns Err.
func (e *KeyError) Unwrap() error { return e.Err }

// refuses reports whether an error is an answer by which a server refuses a request: one that
// the same request gets until something is changed, such as rights. It is repeated
// nevertheless.
func refuses(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch code := status.Status().Code; code {
	case http.StatusRequestTimeout, http.StatusGone, http.StatusTooManyRequests:
		return false
	default:
		return code >= http.StatusBadRequest && code < http.StatusInternalServerError
	}
}

// sameRefusal reports whether two errors are refusals for one reason. Requests differ, and so do the
// texts.
func sameRefusal(a, b error) bool {
	return refuses(a) && refuses(b) && apierrors.ReasonForError(a) == apierrors.ReasonForError(b)
}
