package queue

import "time"

// delayHeap holds the keys that are to be added later, the earliest first; of those due at
// the same time, the one that was pushed first. It is a heap with four children for each
// element, in pages, so that nothing is copied when it grows. Each entry knows its place,
// so that it can be put forward or taken out.
type delayHeap[K comparable] struct {
	pages  []*[delayPage]delay[K]
	len    int
	seq    uint32 // of the last delay
	needed need
}

const delayPage = 256

// delay is an element. All that comparing needs is in it.
type delay[K comparable] struct {
	due   time.Duration
	entry *entry[K]
	seq   uint32 // the order of arrival; it wraps around
}

func (d *delay[K]) before(other *delay[K]) bool {
	return d.due < other.due || d.due == other.due && int32(d.seq-other.seq) < 0
}

func (h *delayHeap[K]) at(i int) *delay[K] { return &h.pages[uint(i)/delayPage][uint(i)%delayPage] }

// due returns when the delay of an entry ends, which is in the heap.
func (h *delayHeap[K]) due(e *entry[K]) time.Duration { return h.at(int(e.place)).due }

// push adds an entry that is not in the heap.
func (h *delayHeap[K]) push(due time.Duration, e *entry[K]) {
	if h.len == len(h.pages)*delayPage {
		h.pages = append(h.pages, new([delayPage]delay[K]))
	}
	e.place = int32(h.len)
	h.len++
	h.needed.note(h.len)
	h.forward(due, e)
}

// forward makes the delay of an entry end earlier.
func (h *delayHeap[K]) forward(due time.Duration, e *entry[K]) {
	h.seq++
	h.up(int(e.place), delay[K]{due, e, h.seq})
}

// remove takes an entry out.
func (h *delayHeap[K]) remove(e *entry[K]) {
	h.len--
	last := *h.at(h.len)
	*h.at(h.len) = delay[K]{}
	switch i := int(e.place); {
	case i == h.len:
	case i > 0 && last.before(h.at((i-1)/4)):
		h.up(i, last)
	default:
		h.down(i, last)
	}
}

// set puts d in place i.
func (h *delayHeap[K]) set(i int, d *delay[K]) {
	*h.at(i) = *d
	d.entry.place = int32(i)
}

// up puts d in the place that it has at or above i, whose element is free.
func (h *delayHeap[K]) up(i int, d delay[K]) {
	for i > 0 {
		parent := (i - 1) / 4
		above := h.at(parent)
		if !d.before(above) {
			break
		}
		h.set(i, above)
		i = parent
	}
	h.set(i, &d)
}

// down puts d in the place that it has at or below i, whose element is free.
func (h *delayHeap[K]) down(i int, d delay[K]) {
	for child := 4*i + 1; child < h.len; child = 4*i + 1 {
		first := h.at(child)
		for c := child + 1; c < min(4*i+5, h.len); c++ {
			if other := h.at(c); other.before(first) {
				child, first = c, other
			}
		}
		if !first.before(&d) {
			break
		}
		h.set(i, first)
		i = child
	}
	h.set(i, &d)
}

// trim gives back the memory that was not needed lately.
func (h *delayHeap[K]) trim() {
	h.needed.look(h.len)
	if pages := (h.needed.lately() + delayPage - 1) / delayPage; pages < len(h.pages) {
		h.pages = append(make([]*[delayPage]delay[K], 0, pages), h.pages[:pages]...)
	}
}
