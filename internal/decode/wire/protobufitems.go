package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// protobufPrefix begins every object in apimachinery's protobuf serializer.
var protobufPrefix = []byte("k8s\x00")

// protobufItems are the items of a list in protobuf: a runtime.Unknown (field 1
// its TypeMeta, 2 the list), whose list has its ListMeta as field 1 and its items
// as field 2, as every list of the API does. apimachinery's serializer, which
// encodes lists item by item, counts on that as well.
type protobufItems struct {
	r      *bufio.Reader
	read   int64 // bytes of the response that were consumed
	end    int64 // value of read at the end of the list
	began  bool  // the prefix has been read
	inList bool
	listed bool // the list has begun
	head   Head
	buf    []byte
	offset int64
}

var errBeyondEnd = errors.New("a field goes beyond the end of the list")

// listBuffer is the size of the buffer for a list, in bytes.
const listBuffer = 64 << 10

func newProtobufItems(r io.Reader) Items {
	return &protobufItems{r: bufio.NewReaderSize(r, listBuffer)}
}

// Head implements Items.
func (l *protobufItems) Head() *Head { return &l.head }

// Offset implements Frames.
func (l *protobufItems) Offset() int64 { return l.offset }

// The wire types of protobuf.
const (
	varintType  = 0
	fixed64Type = 1
	bytesType   = 2
	fixed32Type = 5
)

// Next implements Frames.
func (l *protobufItems) Next() ([]byte, error) {
	if !l.began {
		prefix, err := l.bytes(uint64(len(protobufPrefix)))
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(prefix, protobufPrefix) {
			return nil, errors.New("expected protobuf, found something else")
		}
		l.began = true
	}
	for {
		switch {
		case !l.inList:
			if err := l.envelope(); err != nil {
				return nil, err
			}
		case l.read == l.end:
			l.inList = false
		case l.read > l.end:
			return nil, errBeyondEnd
		default:
			if item, err := l.field(); item != nil || err != nil {
				return item, err
			}
		}
	}
}

// envelope reads a field of the runtime.Unknown; of the list only the beginning.
// It returns io.EOF at the end of the response.
func (l *protobufItems) envelope() error {
	l.offset = l.read
	if _, err := l.r.Peek(1); err == io.EOF {
		return l.finish()
	}
	number, wireType, err := l.tag()
	if err != nil {
		return err
	}
	switch {
	case number <= 4 && wireType != bytesType: // the fields of an Unknown
		return errBadProtobuf
	case number == 1:
		data, err := l.delimited()
		if err != nil {
			return err
		}
		kind := runtime.TypeMeta{APIVersion: l.head.APIVersion, Kind: l.head.Kind}
		if err := kind.Unmarshal(data); err != nil {
			return fmt.Errorf("kind of the list: %w", undecoded(err))
		}
		l.head.APIVersion, l.head.Kind = kind.APIVersion, kind.Kind
		return nil
	case number == 2 && !l.listed:
		size, err := l.size()
		l.end = l.read + int64(size)
		l.inList, l.listed = true, true
		return err
	case number == 2:
		return errors.New("more than one list")
	default:
		return l.ignore(wireType)
	}
}

// field reads a field of the list, and returns it if it is an item.
func (l *protobufItems) field() ([]byte, error) {
	l.offset = l.read
	number, wireType, err := l.tag()
	if err != nil {
		return nil, err
	}
	switch {
	case number <= 2 && wireType != bytesType:
		return nil, errBadProtobuf
	case number == 1:
		data, err := l.delimited()
		if err != nil {
			return nil, err
		}
		if err := l.head.ListMeta.Unmarshal(data); err != nil {
			return nil, fmt.Errorf("metadata of the list: %w", undecoded(err))
		}
		return nil, nil
	case number == 2:
		return l.delimited()
	default:
		return nil, l.ignore(wireType)
	}
}

// finish checks that the response had a list, and returns io.EOF if it had.
func (l *protobufItems) finish() error {
	if !l.listed { // an empty list is there as well, as a message
		return fmt.Errorf("not a list, but an empty %s of %s", l.head.Kind, l.head.APIVersion)
	}
	return io.EOF
}

func (l *protobufItems) tag() (number, wireType uint64, err error) {
	tag, err := l.varint()
	if err == nil && !isFieldNumber(tag>>3) {
		err = errBadProtobuf
	}
	return tag >> 3, tag & 7, err
}

func (l *protobufItems) varint() (uint64, error) {
	n, err := binary.ReadUvarint(countingByteReader{l})
	return n, within(err)
}

// size reads how many bytes there are of something.
func (l *protobufItems) size() (uint64, error) {
	n, err := l.varint()
	if err == nil && n > 1<<62 {
		return 0, fmt.Errorf("%d is no size", n)
	}
	return n, err
}

// delimited reads the contents of a field that begins with their length. They
// are not nil, and valid until the next call.
func (l *protobufItems) delimited() ([]byte, error) {
	n, err := l.size()
	if err != nil {
		return nil, err
	}
	return l.bytes(n)
}

func (l *protobufItems) bytes(n uint64) ([]byte, error) {
	if n > math.MaxInt || l.inList && n > uint64(max(0, l.end-l.read)) {
		return nil, errBeyondEnd
	}
	var err error
	l.buf, err = readArriving(l.r, l.buf, int(n))
	l.read += int64(len(l.buf))
	return l.buf, err
}

// ignore reads an unknown field.
func (l *protobufItems) ignore(wireType uint64) error {
	var err error
	switch wireType {
	case varintType:
		_, err = l.varint()
	case fixed64Type:
		_, err = l.bytes(8)
	case bytesType:
		_, err = l.delimited()
	case fixed32Type:
		_, err = l.bytes(4)
	default:
		err = fmt.Errorf("unknown wire type %d", wireType)
	}
	return err
}

// countingByteReader reads bytes one by one.
type countingByteReader struct{ *protobufItems }

// ReadByte implements io.ByteReader.
func (r countingByteReader) ReadByte() (byte, error) {
	c, err := r.r.ReadByte()
	if err == nil {
		r.read++
	}
	return c, err
}

// Buffered implements Frames.
func (l *protobufItems) Buffered() int { return l.r.Buffered() }

// readArriving reads n bytes into the memory of buf, or into more. It allocates as they arrive:
// a length is believed when as much has come. The result is not nil, and shorter than n if
// there is an error, io.ErrUnexpectedEOF at the end of r.
func readArriving(r io.Reader, buf []byte, n int) ([]byte, error) {
	if buf == nil {
		buf = make([]byte, 0, min(max(n, 512), firstRead))
	}
	buf = buf[:0]
	for len(buf) < n {
		size := min(n, max(cap(buf), 2*len(buf)))
		buf = slices.Grow(buf, size-len(buf))
		read, err := io.ReadFull(r, buf[len(buf):size])
		buf = buf[:len(buf)+read]
		if err != nil {
			return buf, within(err)
		}
	}
	return buf, nil
}
