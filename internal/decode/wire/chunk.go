package wire

import (
	"sync"
	"sync/atomic"
)

// chunkSize is how many bytes of frames share a piece of memory.
const chunkSize = 32 << 10

// chunk is memory that frames share, and that is free when all of them have been decoded.
// While the reader waits for more, it uses none.
type chunk struct {
	data []byte
	used atomic.Int32 // by frames, and by the reader
}

// chunks is the memory of chunks that are free.
var chunks = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// newChunk returns a chunk that is used once, by the caller.
func newChunk() *chunk {
	c := &chunk{data: chunks.Get().(*[chunkSize]byte)[:0]}
	c.used.Store(1)
	return c
}

// claim adds a use of c, which may be nil, if there are others.
func (c *chunk) claim() bool {
	for c != nil {
		used := c.used.Load()
		if used == 0 {
			return false
		}
		if c.used.CompareAndSwap(used, used+1) {
			return true
		}
	}
	return false
}

// release ends a use of c, which may be nil.
func (c *chunk) release() {
	if c == nil || c.used.Add(-1) > 0 {
		return
	}
	if cap(c.data) == chunkSize {
		chunks.Put((*[chunkSize]byte)(c.data[:chunkSize]))
	}
	c.data = nil
}
