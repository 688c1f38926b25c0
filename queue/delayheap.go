package queue

import "time"

// delayHeap holds the keys that are to be added later, the earliest first; of
// those due at the same time, the one that was pushed first. It is a heap with
// four children for each element. They lie in one cache line, and the heap is half
// as high as a binary one.
//
// When a key is put forward, its older delay stays in the heap. The user of the
// heap recognises it as out of date when its time comes, or when sweep asks.
type delayHeap struct {
	elements paged[delay] // the element i of the heap is number i+heapOffset
	len      int
	seq      uint32 // of the next delay
	swept    int    // where the next sweep goes on
	peak     int    // the largest len since the last trim
}

// heapOffset puts the four children of each element at a multiple of four.
const heapOffset = 3

type delay struct {
	due time.Duration
	seq uint32 // the order of arrival; it wraps around
	row int32
}

func (d delay) before(other delay) bool {
	return d.due < other.due || d.due == other.due && int32(d.seq-other.seq) < 0
}

func (h *delayHeap) at(i int) *delay { return h.elements.at(int32(i + heapOffset)) }

// first returns the earliest delay. There has to be one.
func (h *delayHeap) first() delay { return *h.at(0) }

// push adds a delay and returns it.
func (h *delayHeap) push(due time.Duration, row int32) delay {
	d := delay{due: due, seq: h.seq, row: row}
	h.seq++
	h.elements.reserve(int32(h.len + heapOffset))
	h.len++
	h.peak = max(h.peak, h.len)
	h.up(h.len-1, d)
	return d
}

// up puts d in the place that it has above i, whose element is free.
func (h *delayHeap) up(i int, d delay) {
	for i > 0 {
		parent := (i - 1) / 4
		above := h.at(parent)
		if !d.before(*above) {
			break
		}
		*h.at(i) = *above
		i = parent
	}
	*h.at(i) = d
}

// down puts d in the place that it has below i, whose element is free.
func (h *delayHeap) down(i int, d delay) {
	for {
		child := 4*i + 1
		if child >= h.len {
			break
		}
		page := h.elements.pages[uint(child+heapOffset)/pageSize]
		start := uint(child+heapOffset) % pageSize
		children := page[start : start+uint(min(4, h.len-child))]
		least := 0
		for c := 1; c < len(children); c++ {
			if children[c].before(children[least]) {
				least = c
			}
		}
		if !children[least].before(d) {
			break
		}
		*h.at(i) = children[least]
		i = child + least
	}
	*h.at(i) = d
}

// pop takes out the first delay. There has to be one.
func (h *delayHeap) pop() delay {
	first := h.first()
	last := h.popLast()
	if h.len > 0 {
		h.down(0, last)
	}
	return first
}

// popLast takes out some delay. There has to be one.
func (h *delayHeap) popLast() delay {
	h.len--
	return *h.at(h.len)
}

// sweepStep is how many delays a sweep looks at.
const sweepStep = 4

// sweep looks at some delays, at others each time, and drops those that keep
// rejects.
func (h *delayHeap) sweep(keep func(d delay) bool) {
	for range min(sweepStep, h.len) {
		if h.swept >= h.len {
			h.swept = 0
		}
		i := h.swept
		if keep(*h.at(i)) {
			h.swept++
			continue
		}
		last := h.popLast()
		if i == h.len {
			continue
		}
		if i > 0 && last.before(*h.at((i - 1) / 4)) {
			h.up(i, last)
		} else {
			h.down(i, last)
		}
	}
}

// clear drops all delays.
func (h *delayHeap) clear() { h.len = 0 }

// trim gives back the memory that was not needed since the last call.
func (h *delayHeap) trim() {
	h.elements.truncate(max(h.peak+heapOffset, keptPages*pageSize))
	h.peak = h.len
}
