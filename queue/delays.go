package queue

import "time"

// delayHeap holds the keys that are to be added later, the earliest first; of those due at
// the same time, the one that was pushed first. It is a heap with four children for each
// element, in pages, so that nothing is copied when it grows.
//
// Each entry knows its place, so that it can be put forward or taken out: it has a slot, in
// which its place is. What moves in the heap changes slots, which lie densely, and not
// entries, which lie anywhere in memory.
type delayHeap[K comparable] struct {
	pages  []*delayPage[K]
	len    int
	seq    uint32 // of the last delay
	needed need
}

// delayPage has elements of the heap, and as many slots, which are in no order.
type delayPage[K comparable] struct {
	heap  [delayPageSize]delay
	slots [delayPageSize]delaySlot[K]
}

const delayPageSize = 256

// delay is an element. All that comparing needs is in it.
type delay struct {
	due  time.Duration
	seq  uint32 // the order of arrival; it wraps around
	slot int32
}

func (d *delay) before(other *delay) bool {
	return d.due < other.due || d.due == other.due && int32(d.seq-other.seq) < 0
}

type delaySlot[K comparable] struct {
	entry *entry[K]
	place int32 // in the heap
}

func (h *delayHeap[K]) at(i int) *delay {
	return &h.pages[uint(i)/delayPageSize].heap[uint(i)%delayPageSize]
}

func (h *delayHeap[K]) slot(i int32) *delaySlot[K] {
	return &h.pages[uint32(i)/delayPageSize].slots[uint32(i)%delayPageSize]
}

// first returns the entry whose delay ends first. There has to be one.
func (h *delayHeap[K]) first() *entry[K] { return h.slot(h.at(0).slot).entry }

// due returns when the delay of an entry ends, which is in the heap.
func (h *delayHeap[K]) due(e *entry[K]) time.Duration { return h.at(int(h.slot(e.slot).place)).due }

// push adds an entry that is not in the heap.
func (h *delayHeap[K]) push(due time.Duration, e *entry[K]) {
	if h.len == len(h.pages)*delayPageSize {
		h.pages = append(h.pages, &delayPage[K]{})
	}
	e.slot = int32(h.len)
	h.slot(e.slot).entry = e
	h.len++
	h.needed.note(h.len)
	h.seq++
	h.up(h.len-1, delay{due: due, seq: h.seq, slot: e.slot})
}

// forward makes the delay of an entry end earlier.
func (h *delayHeap[K]) forward(due time.Duration, e *entry[K]) {
	h.seq++
	h.up(int(h.slot(e.slot).place), delay{due: due, seq: h.seq, slot: e.slot})
}

// remove takes an entry out.
func (h *delayHeap[K]) remove(e *entry[K]) {
	i := int(h.slot(e.slot).place)
	h.len--
	last := *h.at(h.len)
	switch {
	case i == h.len:
	case i > 0 && last.before(h.at((i-1)/4)):
		h.up(i, last)
	default:
		h.down(i, last)
	}
	// The last slot moves to the one that is free.
	s := h.slot(int32(h.len))
	if e.slot != int32(h.len) {
		*h.slot(e.slot) = *s
		s.entry.slot = e.slot
		h.at(int(s.place)).slot = e.slot
	}
	*s = delaySlot[K]{}
}

// set puts d in place i.
func (h *delayHeap[K]) set(i int, d delay) {
	*h.at(i) = d
	h.slot(d.slot).place = int32(i)
}

// up puts d in the place that it has at or above i, whose element is free.
func (h *delayHeap[K]) up(i int, d delay) {
	for i > 0 {
		parent := (i - 1) / 4
		above := h.at(parent)
		if !d.before(above) {
			break
		}
		h.set(i, *above)
		i = parent
	}
	h.set(i, d)
}

// down puts d in the place that it has at or below i, whose element is free.
func (h *delayHeap[K]) down(i int, d delay) {
	for child := 4*i + 1; child < h.len; child = 4*i + 1 {
		least, first := child, h.at(child)
		for c := child + 1; c < min(child+4, h.len); c++ {
			if other := h.at(c); other.before(first) {
				least, first = c, other
			}
		}
		if !first.before(&d) {
			break
		}
		h.set(i, *first)
		i = least
	}
	h.set(i, d)
}

// trim gives back the memory that was not needed lately.
func (h *delayHeap[K]) trim() {
	h.needed.look(h.len)
	if pages := (h.needed.lately() + delayPageSize - 1) / delayPageSize; pages < len(h.pages) {
		h.pages = append(make([]*delayPage[K], 0, pages), h.pages[:pages]...)
	}
}
