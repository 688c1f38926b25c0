package eventlog

import (
	"context"
	"math/bits"
	"slices"
	"sync"

	"github.com/kubetyped/informer/index"
)

const (
	pageBits = 9
	pageSize = 1 << pageBits
	pageMask = pageSize - 1
	minPage  = 8
	maxSpare = 8 // pages kept for the next time that a reader falls behind
)

// Log is a sequence of events with one writer and any number of readers.
//
//  1. Every reader gets the events that were appended after it was added, in
//     their order, until it is closed.
//  2. An append is one copy of the events and one wake-up for each reader that
//     waits. It does not wait for readers; WaitForRoom does.
//  3. An event stays in memory until every Cursor has moved past it.
type Log[T index.Object] struct {
	mu    sync.Mutex
	pages [][]index.Event[T] // guarded by mu; pages[0] has the event number base
	spare [][]index.Event[T] // guarded by mu; empty pages for reuse
	base  uint64             // guarded by mu; number of the first event that is kept
	head  uint64             // guarded by mu; number of the next event

	cursors    []*Cursor[T]    // guarded by mu
	coalescers []*Coalescer[T] // guarded by mu
	starved    bool            // guarded by mu; WaitForRoom waits
	room       chan struct{}   // has room for one
}

// New returns an empty log.
func New[T index.Object]() *Log[T] { return &Log[T]{room: make(chan struct{}, 1)} }

// Append adds events, which are copied. Calls must not overlap.
func (l *Log[T]) Append(events []index.Event[T]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.coalescers {
		c.offer(events)
	}
	if len(l.cursors) == 0 {
		l.head += uint64(len(events))
		l.base = l.head
		return
	}
	for len(events) > 0 {
		page := int(l.head>>pageBits - l.base>>pageBits)
		if page == len(l.pages) {
			l.pages = append(l.pages, l.newPage())
		}
		l.reserve(page, int(l.head&pageMask)+len(events))
		n := copy(l.pages[page][l.head&pageMask:], events)
		events = events[n:]
		l.head += uint64(n)
	}
	for _, c := range l.cursors {
		wake(&c.waiting, c.ready)
	}
}

func (l *Log[T]) newPage() []index.Event[T] {
	if n := len(l.spare); n > 0 {
		page := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return page
	}
	return nil
}

// reserve makes room in a page, up to the number end if there can be one. The
// first page grows as it is filled: programs have many logs with few events.
func (l *Log[T]) reserve(page, end int) {
	events := l.pages[page]
	if len(events) >= min(end, pageSize) {
		return
	}
	size := pageSize
	if page == 0 {
		size = min(pageSize, max(minPage, 1<<bits.Len(uint(end-1))))
	}
	l.pages[page] = append(make([]index.Event[T], 0, size), events...)[:size] // a reader may hold the old one
}

// WaitForRoom waits until every Cursor that has a limit is below it. It
// returns ctx's error if that ends first. Calls must not overlap.
func (l *Log[T]) WaitForRoom(ctx context.Context) error {
	for {
		l.mu.Lock()
		full := slices.ContainsFunc(l.cursors, (*Cursor[T]).full)
		l.starved = full
		l.mu.Unlock()
		if !full {
			return nil
		}
		select {
		case <-l.room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// trim frees the events that every cursor has read.
func (l *Log[T]) trim() {
	end := l.head
	for _, c := range l.cursors {
		end = min(end, c.pos)
	}
	for l.base < end {
		next := min(end, (l.base|pageMask)+1)
		if len(l.pages) > 0 {
			clear(l.pages[0][l.base&pageMask : (next-1)&pageMask+1])
			if next&pageMask == 0 {
				if len(l.spare) < maxSpare {
					l.spare = append(l.spare, l.pages[0])
				}
				l.pages[0] = nil
				l.pages = l.pages[1:]
			}
		}
		l.base = next
	}
	if l.base == l.head && l.head&pageMask == 0 {
		l.pages = nil
	}
}

// disown replaces the page of event number pos by a copy, so that clearing and
// reusing it does not touch what a reader was given.
func (l *Log[T]) disown(pos uint64) {
	page := pos>>pageBits - l.base>>pageBits
	l.pages[page] = slices.Clone(l.pages[page])
}

// signalRoom wakes WaitForRoom.
func (l *Log[T]) signalRoom() { wake(&l.starved, l.room) }

// wake makes a channel readable, which has room for one signal, if a goroutine waits for that.
// The caller holds the lock that guards waiting.
func wake(waiting *bool, ready chan<- struct{}) {
	if *waiting {
		*waiting = false
		select {
		case ready <- struct{}{}:
		default: // one signal is enough
		}
	}
}
