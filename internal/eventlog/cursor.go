package eventlog

import (
	"slices"
	"sync/atomic"

	"github.com/kubetyped/informer/index"
)

// Cursor reads every event of a Log. Next, Ready and Handled are for one
// goroutine, the other methods may be called from any.
type Cursor[T index.Object] struct {
	log   *Log[T]
	limit uint64 // 0: none
	ready chan struct{}

	pos     uint64 // guarded by log.mu; number of the first event of the batch
	batch   uint64 // guarded by log.mu; events that the reader has in hand
	waiting bool   // guarded by log.mu; Next found nothing
	closed  bool   // guarded by log.mu

	done atomic.Uint64 // number of the first event that was not handled
}

// NewCursor adds a reader, which will get what is appended from now on. With a
// limit above zero, WaitForRoom waits while that many events are unread.
func (l *Log[T]) NewCursor(limit int) *Cursor[T] {
	c := &Cursor[T]{log: l, limit: uint64(max(limit, 0)), ready: make(chan struct{}, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	c.pos = l.head
	c.done.Store(l.head)
	l.cursors = append(l.cursors, c)
	return c
}

// Next says that the events it returned before have been handled, and returns
// those that follow, or nothing if there are none. They are valid until the
// following call.
func (c *Cursor[T]) Next() []index.Event[T] {
	l := c.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed {
		return nil
	}
	if c.batch > 0 {
		first := c.pos == l.base
		c.pos += c.batch
		c.batch = 0
		c.done.Store(c.pos)
		if first {
			l.trim()
		}
		if !c.full() {
			l.signalRoom()
		}
	}
	if c.pos == l.head {
		c.waiting = true
		return nil
	}
	end := min(l.head, (c.pos|pageMask)+1)
	if c.limit > 0 {
		end = min(end, c.pos+c.limit)
	}
	c.batch = end - c.pos
	page := l.pages[c.pos>>pageBits-l.base>>pageBits]
	return page[c.pos&pageMask : (end-1)&pageMask+1]
}

// Ready returns a channel that is readable when there may be something new
// since Next found nothing.
func (c *Cursor[T]) Ready() <-chan struct{} { return c.ready }

// Handled says that one more event of the batch has been handled.
func (c *Cursor[T]) Handled() { c.done.Store(c.done.Load() + 1) }

// Position returns the number of the first event that was not handled yet.
func (c *Cursor[T]) Position() uint64 { return c.done.Load() }

// Head returns the number that the next event will get: when Position has
// reached it, everything that was appended before has been handled.
func (c *Cursor[T]) Head() uint64 {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	return c.log.head
}

// Backlog returns how many events were not handled yet, 0 after Close.
func (c *Cursor[T]) Backlog() int {
	position := c.Position() // first: the head is never behind it
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	if c.closed {
		return 0
	}
	return int(c.log.head - position)
}

// Close removes the reader. Events that Next returned stay valid.
func (c *Cursor[T]) Close() {
	l := c.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	l.cursors = slices.DeleteFunc(l.cursors, func(other *Cursor[T]) bool { return other == c })
	if c.batch > 0 {
		// The reader may still look at its batch: leave the page to it.
		l.disown(c.pos)
	}
	l.trim()
	l.signalRoom()
}

// full reports whether the reader is at its limit.
func (c *Cursor[T]) full() bool { return c.limit > 0 && c.log.head-c.pos >= c.limit }
