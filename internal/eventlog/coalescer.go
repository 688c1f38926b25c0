package eventlog

import (
	"slices"
	"sync"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/container"
)

// Merge joins two events of one key, of which the first was not handled yet.
// It returns false if the two cancel out.
type Merge[T index.Object] func(pending, next index.Event[T]) (index.Event[T], bool)

// Coalescer reads the events of a Log, at most one for each key at a time:
//
//  1. An event whose key has none pending is appended to those that wait.
//  2. Otherwise it is merged with the pending one, which keeps its place, or
//     is removed if the two cancel out.
//
// So what it holds is bounded by the number of keys. Next, Ready and Handled
// are for one goroutine, the other methods may be called from any.
type Coalescer[T index.Object] struct {
	log   *Log[T]
	merge Merge[T]
	ready chan struct{}

	mu      sync.Mutex // taken after log.mu
	pending map[index.Key]*pending[T]
	first   *pending[T]       // guarded by mu; the oldest
	last    *pending[T]       // guarded by mu
	spare   *pending[T]       // guarded by mu; a list of empty ones for reuse
	spares  int               // guarded by mu; its length
	most    int               // guarded by mu; that pending has held, for container.ShrinkMap
	fills   []*Fill[T]        // guarded by mu; in progress
	head    uint64            // guarded by mu; number of the next place
	handing bool              // guarded by mu; an event is being handled
	current uint64            // guarded by mu; its place
	waiting bool              // guarded by mu
	closed  bool              // guarded by mu
	batch   [1]index.Event[T] // what Next returned; owned by the reader
}

// pending is an event that waits, in a list by place.
type pending[T index.Object] struct {
	key        index.Key
	event      index.Event[T]
	place      uint64
	prev, next *pending[T]
}

// NewCoalescer adds a reader to l, which will get what is appended from now
// on, merged by key.
func NewCoalescer[T index.Object](l *Log[T], merge Merge[T]) *Coalescer[T] {
	c := &Coalescer[T]{
		log: l, merge: merge,
		ready:   make(chan struct{}, 1),
		pending: map[index.Key]*pending[T]{},
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.coalescers = append(l.coalescers, c)
	return c
}

func (c *Coalescer[T]) offer(events []index.Event[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range events {
		k := e.Key()
		for _, f := range c.fills {
			f.changed[k] = struct{}{}
		}
		p := c.pending[k]
		if p == nil {
			c.append(k, e)
		} else if merged, left := c.merge(p.event, e); left {
			p.event = merged
		} else {
			c.remove(p)
		}
	}
	wake(&c.waiting, c.ready)
}

func (c *Coalescer[T]) append(k index.Key, e index.Event[T]) {
	p := c.spare
	if p == nil {
		p = new(pending[T])
	} else {
		c.spare = p.next
		c.spares--
	}
	*p = pending[T]{key: k, event: e, place: c.head, prev: c.last}
	c.head++
	if c.last == nil {
		c.first = p
	} else {
		c.last.next = p
	}
	c.last = p
	c.pending[k] = p
}

func (c *Coalescer[T]) remove(p *pending[T]) {
	if p.prev == nil {
		c.first = p.next
	} else {
		p.prev.next = p.next
	}
	if p.next == nil {
		c.last = p.prev
	} else {
		p.next.prev = p.prev
	}
	delete(c.pending, p.key)
	c.pending = container.ShrinkMap(c.pending, &c.most)
	*p = pending[T]{}
	if c.spares < container.KeptKeys {
		p.next, c.spare = c.spare, p
		c.spares++
	}
}

// Next says that the event it returned before has been handled, and returns
// the oldest one that waits, or nothing. It is valid until it has been handled.
func (c *Coalescer[T]) Next() []index.Event[T] {
	clear(c.batch[:])
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.first
	c.handing = p != nil
	if p == nil {
		c.waiting = true
		return nil
	}
	c.current = p.place
	c.batch[0] = p.event
	c.remove(p)
	return c.batch[:]
}

// Ready returns a channel that is readable when there may be something new
// since Next found nothing.
func (c *Coalescer[T]) Ready() <-chan struct{} { return c.ready }

// Handled says that the event has been handled.
func (c *Coalescer[T]) Handled() {
	clear(c.batch[:]) // Next may not be called again
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handing = false
}

// Position returns the place of the oldest event that was not handled yet.
func (c *Coalescer[T]) Position() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.handing:
		return c.current
	case c.first != nil:
		return c.first.place
	default:
		return c.head
	}
}

// Head returns the place that the next event will get: when Position has
// reached it, everything that was pending before has been handled.
func (c *Coalescer[T]) Head() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.head
}

// Backlog returns how many events were not handled yet.
func (c *Coalescer[T]) Backlog() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.handing {
		return len(c.pending) + 1
	}
	return len(c.pending)
}

// Close removes the reader, and forgets what is pending.
func (c *Coalescer[T]) Close() {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	c.log.coalescers = slices.DeleteFunc(c.log.coalescers, func(other *Coalescer[T]) bool { return other == c })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.pending, c.first, c.last = map[index.Key]*pending[T]{}, nil, nil
	c.spare, c.spares = nil, 0
}

// Fill adds events to those of one reader that are pending. The events describe the objects at
// the moment when the Fill was begun. A Fill may take long, so it skips the keys that later
// events have changed.
type Fill[T index.Object] struct {
	c       *Coalescer[T]
	changed map[index.Key]struct{} // guarded by mu of c; the keys of later events
}

// Fill begins a Fill, which has to be ended. The caller ensures that nothing is appended to
// the log between the moment that the events describe and this call.
func (c *Coalescer[T]) Fill() *Fill[T] {
	f := &Fill[T]{c: c, changed: map[index.Key]struct{}{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fills = append(c.fills, f)
	return f
}

// Offer appends e, unless there is a pending event of its key, or was one since the
// Fill was begun.
func (f *Fill[T]) Offer(e index.Event[T]) {
	c := f.c
	k := e.Key()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, changed := f.changed[k]; changed || c.pending[k] != nil || c.closed {
		return
	}
	c.append(k, e)
	wake(&c.waiting, c.ready)
}

// End ends the Fill.
func (f *Fill[T]) End() {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	f.c.fills = slices.DeleteFunc(f.c.fills, func(other *Fill[T]) bool { return other == f })
}
