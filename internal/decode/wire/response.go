package wire

import (
	"io"
	"sync"
)

const (
	// idleRead is the size of the buffer of a response of which nothing has arrived yet.
	idleRead = 512
	// firstRead is the size of the next one, before it grows.
	firstRead = 16 << 10
)

// response is what has arrived of a response, and was not consumed. A watch may wait for hours
// for its next bytes: it keeps idleRead bytes for them, and longer buffers for others to use.
type response struct {
	r        io.Reader
	buf      []byte
	pos, end int   // what of buf has not been consumed
	before   int64 // bytes of the response before buf[0]
	err      error // of the last read
	longest  int   // how much may be read before it is consumed, in bytes
	idle     [idleRead]byte
	spare    *[firstRead]byte // the memory of buf, unless that is shorter or longer
}

// spares are buffers that no response needs now.
var spares = sync.Pool{New: func() any { return new([firstRead]byte) }}

func (r *response) begin(from io.Reader, longest int) {
	r.r, r.longest = from, longest
	r.buf = r.idle[:]
}

// offset returns how many bytes of the response have been consumed.
func (r *response) offset() int64 { return r.before + int64(r.pos) }

// arrived returns what has not been consumed. It is valid until the next call of fill.
func (r *response) arrived() []byte { return r.buf[r.pos:r.end] }

// fill reads more. It moves what has not been consumed to the front of buf.
func (r *response) fill() error {
	if r.err != nil {
		return r.err
	}
	if r.pos > 0 {
		copy(r.buf, r.arrived())
		r.before += int64(r.pos)
		r.end -= r.pos
		r.pos = 0
	}
	switch {
	case r.end == 0:
		r.use(r.idle[:], nil)
	case r.end < len(r.buf):
	case r.end >= r.longest:
		return errTooLong
	case len(r.buf) < firstRead:
		spare := spares.Get().(*[firstRead]byte)
		r.use(spare[:], spare)
	default:
		r.use(make([]byte, 2*len(r.buf)), nil)
	}
	for range 100 { // as bufio, which calls a reader that gives nothing so often
		n, err := r.r.Read(r.buf[r.end:])
		r.end += n
		r.err = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// use moves what has arrived to another buffer.
func (r *response) use(buf []byte, spare *[firstRead]byte) {
	copy(buf, r.buf[:r.end])
	if r.spare != nil {
		spares.Put(r.spare)
	}
	r.buf, r.spare = buf, spare
}
