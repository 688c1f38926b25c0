package container

import (
	"math"
	"time"
)

// Heap holds values that come due, the earliest first; of those of the same time, the one that
// was pushed first. It is a heap with four children for each element, in pages, so that
// nothing is copied when it grows. A value in it knows its place, so that it can be moved
// forward or taken out. Its zero value is empty and ready for use.
type Heap[E any] struct {
	pages  []*[page]element[E]
	len    int
	seq    uint32 // of the last element
	needed Need
}

const page = 256

// Item is the part of an E that a Heap knows. It belongs to a value that sets Of to itself.
type Item[E any] struct {
	Of    *E
	place int32
}

// element is all that comparing needs.
type element[E any] struct {
	due  time.Duration
	item *Item[E]
	seq  uint32 // the order of arrival; it wraps around
}

func (e *element[E]) before(other *element[E]) bool {
	return e.due < other.due || e.due == other.due && int32(e.seq-other.seq) < 0
}

func (h *Heap[E]) at(i int) *element[E] { return &h.pages[uint(i)/page][uint(i)%page] }

// Len returns how many there are.
func (h *Heap[E]) Len() int { return h.len }

// First returns what is due first, and when that is: nil, and never, if there is nothing.
func (h *Heap[E]) First() (time.Duration, *E) {
	if h.len == 0 {
		return math.MaxInt64, nil
	}
	return h.at(0).due, h.at(0).item.Of
}

// Any returns what can be taken out in no time. There has to be one.
func (h *Heap[E]) Any() *E { return h.at(h.len - 1).item.Of }

// Due returns when i is due, which is in the heap.
func (h *Heap[E]) Due(i *Item[E]) time.Duration { return h.at(int(i.place)).due }

// Push adds i, which is not in the heap.
func (h *Heap[E]) Push(due time.Duration, i *Item[E]) {
	if h.len == len(h.pages)*page {
		h.pages = append(h.pages, new([page]element[E]))
	}
	i.place = int32(h.len)
	h.len++
	h.needed.Note(h.len)
	h.Forward(due, i)
}

// Forward makes i, which is in the heap, due earlier.
func (h *Heap[E]) Forward(due time.Duration, i *Item[E]) {
	h.seq++
	h.up(int(i.place), element[E]{due, i, h.seq})
}

// Remove takes i out, which is in the heap.
func (h *Heap[E]) Remove(i *Item[E]) {
	h.len--
	last := *h.at(h.len)
	*h.at(h.len) = element[E]{}
	switch at := int(i.place); {
	case at == h.len:
	case at > 0 && last.before(h.at((at-1)/4)):
		h.up(at, last)
	default:
		h.down(at, last)
	}
}

// set puts e in place i.
func (h *Heap[E]) set(i int, e *element[E]) {
	*h.at(i) = *e
	e.item.place = int32(i)
}

// up puts e in the place that it has at or above i, whose element is free.
func (h *Heap[E]) up(i int, e element[E]) {
	for i > 0 {
		parent := (i - 1) / 4
		above := h.at(parent)
		if !e.before(above) {
			break
		}
		h.set(i, above)
		i = parent
	}
	h.set(i, &e)
}

// down puts e in the place that it has at or below i, whose element is free.
func (h *Heap[E]) down(i int, e element[E]) {
	for child := 4*i + 1; child < h.len; child = 4*i + 1 {
		first := h.at(child)
		for c := child + 1; c < min(4*i+5, h.len); c++ {
			if other := h.at(c); other.before(first) {
				child, first = c, other
			}
		}
		if !first.before(&e) {
			break
		}
		h.set(i, first)
		i = child
	}
	h.set(i, &e)
}

// Trim gives back the memory that was not needed since the Trim before the last one.
func (h *Heap[E]) Trim() {
	h.needed.Look(h.len)
	if pages := (h.needed.Lately() + page - 1) / page; pages < len(h.pages) {
		h.pages = append(make([]*[page]element[E], 0, pages), h.pages[:pages]...)
	}
}
