package queue

// spareRoom tells when a container that grows and becomes empty again and again
// has much more room than it needs: when four times as many elements as it has
// room for have passed through it, and never more than a quarter of it was in
// use. So what it costs to make a smaller one, and maybe a larger one later, is
// little for each element.
type spareRoom struct {
	passed int // elements, since the last time that more was in use
}

// isTooMuch is told each time that the container has become empty: its size, and
// the most that it had in it since it last was.
func (s *spareRoom) isTooMuch(size, used int) bool {
	if used > size/4 {
		s.passed = 0
		return false
	}
	s.passed += used
	if s.passed < 4*size {
		return false
	}
	s.passed = 0
	return true
}
