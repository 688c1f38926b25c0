package loopback

import (
	"os"
	"sync"
	"time"
)

// limit is how many bytes wait to be read before writers wait.
const limit = 64 << 10

// stream is one direction of a connection.
type stream struct {
	mu      sync.Mutex
	changed sync.Cond // of everything below, which mu guards
	bytes   []byte    // written, of which the first have been read
	from    int       // the first that has not
	reader  side
	writer  side
}

// side is what one end of a stream waits for, besides bytes.
type side struct {
	err      error // why it has ended; readers get it after the bytes
	deadline time.Time
	timer    *time.Timer // of the deadline
}

func newStream() *stream {
	s := &stream{}
	s.changed.L = &s.mu
	return s
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.reader.expired():
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		case s.waiting() > 0:
			n := copy(p, s.bytes[s.from:])
			s.from += n
			s.changed.Broadcast()
			return n, nil
		case s.reader.err != nil:
			return 0, s.reader.err
		}
		s.changed.Wait()
	}
}

func (s *stream) write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for written := 0; ; {
		switch {
		case s.writer.expired():
			return written, os.ErrDeadlineExceeded
		case s.writer.err != nil:
			return written, s.writer.err
		}
		if n := min(limit-s.waiting(), len(p)-written); n > 0 {
			if s.from == len(s.bytes) || s.from > limit {
				s.bytes, s.from = s.bytes[:copy(s.bytes, s.bytes[s.from:])], 0
			}
			s.bytes = append(s.bytes, p[written:written+n]...)
			written += n
			s.changed.Broadcast()
		}
		if written == len(p) {
			return written, nil
		}
		s.changed.Wait()
	}
}

// waiting returns how many bytes have not been read. mu is held.
func (s *stream) waiting() int { return len(s.bytes) - s.from }

// end ends both sides, each with its error, unless it had one before.
func (s *stream) end(writer, reader error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer.err == nil {
		s.writer.err = writer
	}
	if s.reader.err == nil {
		s.reader.err = reader
	}
	s.reader.stop()
	s.writer.stop()
	s.changed.Broadcast()
}

// drop frees the bytes that will not be read.
func (s *stream) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes, s.from = nil, 0
}

// setDeadline sets that of one side of the stream.
func (s *stream) setDeadline(of *side, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of.stop()
	of.deadline = t
	if wait := time.Until(t); !t.IsZero() && wait > 0 && of.err == nil {
		of.timer = time.AfterFunc(wait, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.changed.Broadcast()
		})
	}
	s.changed.Broadcast()
}

func (s *side) expired() bool {
	return !s.deadline.IsZero() && !time.Now().Before(s.deadline)
}

func (s *side) stop() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}
