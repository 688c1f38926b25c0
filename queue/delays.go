package queue

import "time"

// delays holds adds that are to come, the earliest first; of those due at the
// same time, the one that came in first. It is a heap of four branches, half as
// high as one of two, and the four lie side by side in memory.
//
// An add that is put off is not taken out: its user sees that it is out of
// date, when its time comes.
type delays struct {
	heap []delay
	seq  uint32
	peak int // the most that there were since it was last cleared
	room spareRoom
}

type delay struct {
	due time.Duration
	seq uint32 // of its coming in; wraps around
	row int32
}

func (d delay) before(other delay) bool {
	return d.due < other.due || d.due == other.due && int32(d.seq-other.seq) < 0
}

// push adds a delay and returns it.
func (h *delays) push(due time.Duration, row int32) delay {
	d := delay{due: due, seq: h.seq, row: row}
	h.seq++
	h.heap = append(h.heap, d)
	h.peak = max(h.peak, len(h.heap))
	h.up(len(h.heap) - 1)
	return d
}

// up moves the delay at i to its place.
func (h *delays) up(i int) {
	d := h.heap[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !d.before(h.heap[parent]) {
			break
		}
		h.heap[i] = h.heap[parent]
		i = parent
	}
	h.heap[i] = d
}

// pop takes out the first delay. There has to be one.
func (h *delays) pop() delay {
	first := h.heap[0]
	last := len(h.heap) - 1
	h.heap[0] = h.heap[last]
	h.heap = h.heap[:last]
	if last > 0 {
		h.down(0)
	}
	return first
}

// clear drops all delays. It may give memory back.
func (h *delays) clear() {
	h.heap = h.heap[:0]
	if h.room.isTooMuch(cap(h.heap), h.peak) {
		h.heap = make([]delay, 0, cap(h.heap)/2)
	}
	h.peak = 0
}

// down moves the delay at i to its place.
func (h *delays) down(i int) {
	heap := h.heap
	d := heap[i]
	for {
		child := 4*i + 1
		if child >= len(heap) {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, len(heap)); c++ {
			if heap[c].before(heap[least]) {
				least = c
			}
		}
		if !heap[least].before(d) {
			break
		}
		heap[i] = heap[least]
		i = least
	}
	heap[i] = d
}

// retain drops the delays that keep rejects.
func (h *delays) retain(keep func(d delay) bool) {
	kept := h.heap[:0]
	for _, d := range h.heap {
		if keep(d) {
			kept = append(kept, d)
		}
	}
	h.heap = kept
	for parents := (len(kept) + 2) / 4; parents > 0; parents-- {
		h.down(parents - 1)
	}
}
