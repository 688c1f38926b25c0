package wire

import (
	"errors"
	"io"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
)

// cborFrames are the data items of a CBOR sequence, a watch, as apimachinery's
// framer finds them.
type cborFrames struct {
	r      io.Reader
	buf    []byte
	offset int64
	next   int64 // offset of the next frame
}

func newCBORFrames(r io.Reader) Frames {
	return &cborFrames{r: cbor.NewFramer().NewFrameReader(io.NopCloser(r)), buf: make([]byte, firstRead)}
}

// Next implements Frames.
func (f *cborFrames) Next() ([]byte, error) {
	f.offset = f.next
	if len(f.buf) > 4*firstRead {
		f.buf = make([]byte, firstRead) // it was needed for one long frame
	}
	size := 0
	for {
		n, err := f.r.Read(f.buf[size:])
		size += n
		switch {
		case err == nil:
			f.next += int64(size)
			return f.buf[:size], nil
		case !errors.Is(err, io.ErrShortBuffer):
			if size > 0 {
				err = within(err)
			}
			return nil, err
		case len(f.buf) >= MaxFrame:
			return nil, errTooLong
		}
		f.buf = append(f.buf, make([]byte, len(f.buf))...)
	}
}

// Offset implements Frames.
func (f *cborFrames) Offset() int64 { return f.offset }

// Buffered implements Frames.
func (*cborFrames) Buffered() int { return 0 }
