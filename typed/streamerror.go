package typed

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/wire"
)

// StreamError tells of a list or watch that broke off at a part that could not
// be used: one that was cut off, or that could not be decoded.
type StreamError struct {
	// Request is "list" or "watch", Resource is of what.
	Request, Resource string
	// Part is the number of the event of a watch or item of a list, from 1, and
	// Offset how many bytes of the response came before it.
	Part   int
	Offset int64
	// LastVersion is the resource version of what came before it, after which
	// the watch begins anew; "" for lists.
	LastVersion string
	// Key and ResourceVersion are those of the object that could not be decoded,
	// as far as they could be made out.
	Key             index.Key
	ResourceVersion string
	// Err says what was wrong; it is io.ErrUnexpectedEOF if the response was cut
	// off.
	Err error
}

// Error implements error.
func (e *StreamError) Error() string {
	message := fmt.Sprintf("%s %s: %v", e.Request, e.Resource, e.Err)
	if e.Key != (index.Key{}) {
		message += fmt.Sprintf("; the object is %q at resource version %q", e.Key, e.ResourceVersion)
	}
	if e.LastVersion != "" {
		message += fmt.Sprintf("; the last good resource version is %q", e.LastVersion)
	}
	return message
}

// Unwrap returns Err.
func (e *StreamError) Unwrap() error { return e.Err }

// newStreamError returns err as a *StreamError, if it is about a frame.
func newStreamError(request string, of resource, lastVersion string, err error) error {
	var frame *wire.FrameError
	if !errors.As(err, &frame) {
		return fmt.Errorf("%s %s: %w", request, of, err)
	}
	e := &StreamError{
		Request: request, Resource: of.String(), Part: frame.Frame, Offset: frame.Offset, LastVersion: lastVersion, Err: err,
	}
	e.Key, e.ResourceVersion = identify(frame.Data)
	return e
}

// identify makes out which object a frame is about, if it is JSON.
func identify(frame []byte) (index.Key, string) {
	type object struct {
		Metadata struct {
			Namespace       string `json:"namespace"`
			Name            string `json:"name"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	var item object // of a list
	var event struct {
		Object object `json:"object"`
	}
	if json.Unmarshal(frame, &item) != nil || json.Unmarshal(frame, &event) != nil {
		return index.Key{}, ""
	}
	if item == (object{}) {
		item = event.Object
	}
	return index.Key{Namespace: item.Metadata.Namespace, Name: item.Metadata.Name}, item.Metadata.ResourceVersion
}
