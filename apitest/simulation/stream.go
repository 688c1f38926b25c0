package simulation

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"time"
)

// stream is the answer to a watch on its way to the process: whole events, each of which takes
// its own time to travel and keeps its place.
type stream struct {
	life     *life
	identity string
	what     target
	server   int
	cancel   context.CancelFunc
	random   *rand.Rand // for the goroutine that reads from the server
	closed   chan struct{}
	detach   func() bool // from the context of the request

	mu      sync.Mutex
	changed chan struct{} // guarded by mu; closed, and replaced, when there is more
	queue   []frame       // guarded by mu
	err     error         // guarded by mu; after the queue
	last    time.Time     // guarded by mu; when the last frame is due
	broken  bool          // guarded by mu; nothing more is added
	rest    []byte        // of the frame that is being read; for the reader
}

// frame is an event, and when it arrives.
type frame struct {
	text []byte
	due  time.Time
}

// newStream begins to read what a server answers to a watch.
func newStream(l *life, one *request, server int, body io.ReadCloser, cancel context.CancelFunc) *stream {
	s := &stream{
		life: l, identity: one.identity, what: one.what, server: server, cancel: cancel,
		random: l.process.world.random("stream", one.identity),
		closed: make(chan struct{}), changed: make(chan struct{}),
	}
	l.add(s)
	s.detach = context.AfterFunc(one.Context(), func() { s.cut(context.Cause(one.Context())) })
	l.process.world.carrying.Go(func() {
		defer func() { _ = body.Close() }()
		s.pump(bufio.NewReader(body))
	})
	return s
}

// pump takes events from the server until there are no more.
func (s *stream) pump(from *bufio.Reader) {
	for {
		text, err := readFrame(from)
		if err != nil {
			s.finish(err)
			return
		}
		s.push(text)
		s.life.process.world.stir()
	}
}

// readFrame reads one event: a line of JSON, or a length in four bytes and so many more.
func readFrame(from *bufio.Reader) ([]byte, error) {
	first, err := from.Peek(1)
	if err != nil {
		return nil, err
	}
	if first[0] == '{' {
		text, err := from.ReadBytes('\n')
		if err != nil && len(text) > 0 {
			return nil, io.ErrUnexpectedEOF
		}
		return text, err
	}
	head, err := from.Peek(4)
	if err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	text := make([]byte, 4+int(binary.BigEndian.Uint32(head)))
	if _, err := io.ReadFull(from, text); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return text, nil
}

// push adds an event.
func (s *stream) push(text []byte) {
	takes := s.life.process.takes(s.random)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		return
	}
	due := time.Now().Add(takes)
	if due.Before(s.last) {
		due = s.last
	}
	s.last = due
	s.queue = append(s.queue, frame{text, due})
	s.signal()
}

// signal wakes the reader. The caller holds mu.
func (s *stream) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// finish ends the stream after the events that are on their way.
func (s *stream) finish(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.broken {
		s.broken, s.err = true, err
		s.signal()
	}
}

// cut ends the stream at once: what is on its way is lost.
func (s *stream) cut(err error) {
	s.mu.Lock()
	s.queue, s.broken, s.err = nil, true, err
	s.signal()
	s.mu.Unlock()
	s.cancel()
}

// tear ends the stream in the middle of the next event, or of none if none is on its way.
func (s *stream) tear() {
	s.mu.Lock()
	if len(s.queue) > 0 {
		s.queue = s.queue[:1]
		s.queue[0].text = s.queue[0].text[:len(s.queue[0].text)/2]
	}
	s.broken, s.err = true, io.ErrUnexpectedEOF
	s.signal()
	s.mu.Unlock()
	s.cancel()
}

// Read implements io.Reader.
func (s *stream) Read(into []byte) (int, error) {
	if len(s.rest) == 0 {
		text, err := s.next()
		if err != nil {
			return 0, err
		}
		s.rest = text
	}
	n := copy(into, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next waits for the next event to arrive.
func (s *stream) next() ([]byte, error) {
	for {
		s.mu.Lock()
		var arrival <-chan time.Time
		if len(s.queue) > 0 {
			wait := time.Until(s.queue[0].due)
			if wait <= 0 && s.mayPass() {
				text := s.queue[0].text
				s.queue = s.queue[1:]
				s.mu.Unlock()
				s.life.process.world.noteEvent(s, text)
				s.life.process.world.stir()
				return text, nil
			}
			arrival = time.After(max(wait, time.Nanosecond))
		} else if s.err != nil {
			err := s.err
			s.mu.Unlock()
			return nil, err
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-arrival:
			s.life.process.pass(back, s.closed)
		case <-changed:
		case <-s.closed:
			return nil, errClosed
		}
	}
}

// errClosed is what reading a stream returns that was closed.
var errClosed = errors.New("simulation: the watch was closed")

// mayPass reports whether the way to the process is free.
func (s *stream) mayPass() bool {
	p := s.life.process
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frozen[back] == nil
}

// Close implements io.Closer.
func (s *stream) Close() error {
	s.mu.Lock()
	s.broken, s.queue = true, nil
	if !isClosed(s.closed) {
		close(s.closed)
	}
	s.mu.Unlock()
	s.cancel()
	s.detach()
	s.life.remove(s)
	return nil
}
