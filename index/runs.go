package index

import "math/bits"

// A run takes as many places in rest as the next power of two has. Those that are not
// used any more form a list for each size, in which at is the next one; their sizes
// have this limit.
const maxRunSize = 32

// sizeOfRun returns the size of a run of n members, as a power of two.
func sizeOfRun(n uint32) int { return bits.Len32(n - 1) }

// newRun returns a run with room for n members, or a member that is no run if there
// is one only.
func (s *postings[K]) newRun(n int) member {
	if n < 2 {
		return member{}
	}
	size := sizeOfRun(uint32(n))
	from := s.freeRuns[size]
	if from != 0 {
		s.freeRuns[size] = s.rest.at(from).at
	} else {
		from = s.rest.n
		for range 1 << size {
			s.rest.push(&s.shape, member{})
		}
	}
	s.inRuns += 1 << size
	return member{id: several | uint32(n), at: from}
}

// freeRun gives up the places of a run; m may be no run.
func (s *postings[K]) freeRun(m member) {
	if !m.isRun() {
		return
	}
	n, from := m.run()
	size := sizeOfRun(n)
	s.rest.set(&s.shape, from, member{at: s.freeRuns[size]})
	s.freeRuns[size] = from
	s.inRuns -= 1 << size
}
