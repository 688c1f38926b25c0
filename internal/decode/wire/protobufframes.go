package wire

import (
	"bufio"
	"encoding/binary"
	"io"
)

// protobufFrames are the frames of a watch in protobuf, each after its length in
// four bytes. Unlike apimachinery's framer, which asks the response for little at
// a time and takes one that is cut off after a length for one that has ended, it
// reads far and tells the difference.
type protobufFrames struct {
	r      *bufio.Reader
	buf    []byte
	offset int64
	next   int64 // offset of the next frame
}

func newProtobufFrames(r io.Reader) Frames {
	return &protobufFrames{r: bufio.NewReaderSize(r, firstRead)}
}

// Next implements Frames.
func (f *protobufFrames) Next() ([]byte, error) {
	f.offset = f.next
	if cap(f.buf) > 4*firstRead {
		f.buf = nil // it was needed for one long frame, and the next may take its time
	}
	if _, err := f.r.Peek(1); err != nil {
		return nil, between(err)
	}
	var header [4]byte
	if _, err := io.ReadFull(f.r, header[:]); err != nil {
		return nil, within(err)
	}
	size := int(binary.BigEndian.Uint32(header[:]))
	if size > MaxFrame {
		return nil, errTooLong
	}
	var err error
	if f.buf, err = readArriving(f.r, f.buf, size); err != nil {
		return nil, err
	}
	f.next += int64(len(header) + size)
	return f.buf, nil
}

// Offset implements Frames.
func (f *protobufFrames) Offset() int64 { return f.offset }

// Buffered implements Frames.
func (f *protobufFrames) Buffered() int { return f.r.Buffered() }
