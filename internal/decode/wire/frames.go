package wire

import (
	"errors"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MaxFrame is how long a frame of a watch may be, in bytes. It is what client-go's
// decoder of watches allows (apimachinery's runtime/serializer/streaming), about ten
// times what a server stores by default. Items of lists may be longer, as there.
const MaxFrame = 16 << 20

// Frames are the parts of a response that can be decoded on their own.
type Frames interface {
	// Next returns the next frame, which is valid until the next call. It returns io.EOF when
	// the response has ended after a whole frame; for a watch, even if only the connection has
	// ended. It returns another error when the response has ended within a frame
	// (io.ErrUnexpectedEOF), is not what it should be, or cannot be read.
	Next() ([]byte, error)
	// Offset returns how many bytes of the response came before the frame that
	// the last call of Next was about.
	Offset() int64
	// Buffered returns how many bytes of the response have been received and
	// come after the frame that the last call of Next returned, as far as that
	// is known.
	Buffered() int
}

// FrameError is the error of a frame that cannot be read.
type FrameError struct {
	// Frame is the number of the frame, from 1.
	Frame int
	// Offset is how many bytes of the response came before it.
	Offset int64
	// Err is the reason.
	Err error
}

// Error implements error.
func (e *FrameError) Error() string {
	if errors.Is(e.Err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("frame %d, at byte %d of the response, is cut off", e.Frame, e.Offset)
	}
	return fmt.Sprintf("frame %d, at byte %d of the response: %v", e.Frame, e.Offset, e.Err)
}

// Unwrap returns Err.
func (e *FrameError) Unwrap() error { return e.Err }

// within turns the end of the response into io.ErrUnexpectedEOF.
func within(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// between turns the end of the connection, as net/http reports it where the
// server has not ended the response, into io.EOF: no frame is cut off.
func between(err error) error {
	if err == io.ErrUnexpectedEOF {
		return io.EOF
	}
	return err
}

// undecoded returns why a part that has arrived as a whole cannot be decoded. Decoders of what
// ends too early in it return the errors of a response that is cut off, which it is not.
func undecoded(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("the part is complete, and the decoder expects more: %v", err)
	}
	return err
}

var errTooLong = fmt.Errorf("part is longer than %d bytes", MaxFrame)

// Head is what a list has besides its items.
type Head struct {
	metav1.TypeMeta
	metav1.ListMeta
}

// ErrEmptyObject is the error of Items for {}, which has nothing that a list has.
var ErrEmptyObject = errors.New("not a list, but an empty object")

// checkList returns an error if a response, which may have had items, is no list. A
// list without items may leave them out; that it is one shows in its kind.
func (h *Head) checkList(hasItems bool) error {
	switch {
	case hasItems || strings.HasSuffix(h.Kind, "List"):
		return nil
	case h.Kind == "":
		return errors.New("not a list: it has neither items nor a kind")
	}
	return fmt.Errorf("not a list, but a %s of %s without items", h.Kind, h.APIVersion)
}

// Items are the items of a list, each a frame.
type Items interface {
	Frames
	// Head returns the fields of the list that were read so far; all fields
	// after Next has returned io.EOF.
	Head() *Head
}
