package wire

import (
	"io"
	"sync"
)

const (
	// idleRead is the size of the buffer of a response of which nothing has arrived yet.
	idleRead = 512
	// firstRead is the size of the next one. Each after that is twice as long.
	firstRead = 16 << 10
)

// response holds the bytes of a response that have arrived and were not consumed. A watch may
// wait for hours for the next ones: meanwhile it keeps a buffer of idleRead bytes, and gives
// longer ones back.
type response struct {
	r        io.Reader
	buf      []byte
	pos, end int   // the bytes of buf that were not consumed
	before   int64 // bytes of the response before buf[0]
	err      error // of the last read
	longest  int   // how much may be read before it is consumed, in bytes
	idle     [idleRead]byte
	spare    *[]byte // buf, if it is from buffers
}

// buffers are those that no response needs now: of firstRead bytes, twice and four times as many.
var buffers [3]sync.Pool

// buffersOf returns the pool of buffers of a size, nil if there is none.
func buffersOf(size int) *sync.Pool {
	for i := range buffers {
		if size == firstRead<<i {
			return &buffers[i]
		}
	}
	return nil
}

func (r *response) begin(from io.Reader, longest int) {
	r.r, r.longest = from, longest
	r.buf = r.idle[:]
}

// offset returns how many bytes of the response were consumed.
func (r *response) offset() int64 { return r.before + int64(r.pos) }

// arrived returns the bytes that were not consumed. They are valid until the next call of fill.
func (r *response) arrived() []byte { return r.buf[r.pos:r.end] }

// fill reads at least one byte more, or returns an error. It moves the bytes that were not
// consumed to the front of the buffer.
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
	default:
		r.grow(max(firstRead, 2*len(r.buf)))
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

// grow moves the bytes that have arrived to a buffer of another size.
func (r *response) grow(size int) {
	pool := buffersOf(size)
	if pool == nil {
		r.use(make([]byte, size), nil)
		return
	}
	spare, ok := pool.Get().(*[]byte)
	if !ok {
		made := make([]byte, size)
		spare = &made
	}
	r.use(*spare, spare)
}

// use moves the bytes that have arrived to buf, and gives the buffer before back.
func (r *response) use(buf []byte, spare *[]byte) {
	copy(buf, r.buf[:r.end])
	if r.spare != nil {
		buffersOf(len(*r.spare)).Put(r.spare)
	}
	r.buf, r.spare = buf, spare
}
