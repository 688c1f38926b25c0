package kube

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubetyped/informer/internal/decode/wire"
)

// StreamError reports a list or watch that broke off at a part that could not be used: one
// that was cut off, or is not what an API server sends. An object that cannot be decoded, in a
// part that is sound otherwise, is a source.RejectedError.
//
// It contains the position, but no content of the response, which may be secret.
type StreamError struct {
	// Request is "list" or "watch", Resource is of what.
	Request, Resource string
	// Part is the number of the event of a watch or item of a list, from 1, and
	// Offset how many bytes of the response came before it.
	Part   int
	Offset int64
	// LastVersion is the resource version of the last event before it, from which the watch
	// continues; "" for lists.
	LastVersion string
	// Err says what was wrong; it is io.ErrUnexpectedEOF if the response was cut
	// off.
	Err error
}

// Error implements error.
func (e *StreamError) Error() string {
	message := fmt.Sprintf("%s %s: %v", e.Request, e.Resource, e.Err)
	if e.LastVersion != "" {
		message += fmt.Sprintf("; the last good resource version is %q", e.LastVersion)
	}
	return message
}

// Unwrap returns Err.
func (e *StreamError) Unwrap() error { return e.Err }

// newStreamError returns err as a *StreamError, if it is about a frame.
func newStreamError(request string, of resource, lastVersion string, err error) error {
	frame, ok := errors.AsType[*wire.FrameError](err)
	switch {
	case ok:
		return &StreamError{
			Request: request, Resource: of.String(), Part: frame.Frame, Offset: frame.Offset, LastVersion: lastVersion, Err: err,
		}
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s %s: %w; is its CustomResourceDefinition or API service installed? %w", request, of, errNoSuchResource, err)
	default:
		return fmt.Errorf("%s %s: %w", request, of, err)
	}
}
