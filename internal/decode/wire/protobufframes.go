package wire

import (
	"encoding/binary"
	"io"
)

// protobufFrames are the frames of a watch in protobuf, each after its length in four bytes.
// Apimachinery's framer asks the response for little at a time, and takes a frame that is cut
// off after its length for the end of the response. This one reads far, and distinguishes the
// two.
type protobufFrames struct {
	response
	at int64 // offset of the frame
}

// lengthBytes is how many bytes the length of a frame has.
const lengthBytes = 4

func newProtobufFrames(r io.Reader) Frames {
	f := &protobufFrames{}
	f.begin(r, lengthBytes+MaxFrame)
	return f
}

// Next implements Frames. A length is believed when as much has come: what arrives is what
// memory is allocated for.
func (f *protobufFrames) Next() ([]byte, error) {
	f.at = f.offset()
	if f.Buffered() == 0 {
		if err := f.fill(); err != nil {
			return nil, between(err)
		}
	}
	if err := f.need(lengthBytes); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(f.arrived())
	if length > MaxFrame {
		return nil, errTooLong
	}
	size := int(length)
	if err := f.need(lengthBytes + size); err != nil {
		return nil, err
	}
	frame := f.arrived()[lengthBytes : lengthBytes+size]
	f.pos += lengthBytes + size
	return frame, nil
}

// need waits until so many bytes have arrived.
func (f *protobufFrames) need(bytes int) error {
	for f.Buffered() < bytes {
		if err := f.fill(); err != nil {
			return within(err)
		}
	}
	return nil
}

// Offset implements Frames.
func (f *protobufFrames) Offset() int64 { return f.at }

// Buffered implements Frames.
func (f *protobufFrames) Buffered() int { return len(f.arrived()) }
