package queue

// list is a doubly linked list. Its user makes the nodes, and may use them
// again when they are in no list.
type list[V any] struct {
	first, last *node[V]
}

type node[V any] struct {
	prev, next *node[V]
	value      V
}

// append puts n, which is in no list, at the end.
func (l *list[V]) append(n *node[V]) {
	n.prev = l.last
	if l.last != nil {
		l.last.next = n
	} else {
		l.first = n
	}
	l.last = n
}

// remove takes n, which is in the list, out of it.
func (l *list[V]) remove(n *node[V]) {
	if n.prev != nil {
		n.prev.next = n.next
	} else {
		l.first = n.next
	}
	if n.next != nil {
		n.next.prev = n.prev
	} else {
		l.last = n.prev
	}
	n.prev, n.next = nil, nil
}

// freeList keeps nodes that are in no list, to be used again.
type freeList[V any] struct {
	first *node[V]
	len   int
	least int // the least len since the last trim
}

const (
	// maxFree is the number of nodes that a freeList keeps at most.
	maxFree = 16384
	// keptFree is the number of nodes that it keeps for ever.
	keptFree = 1024
)

// get returns a node, whose value may be an old one.
func (s *freeList[V]) get() *node[V] {
	n := s.first
	if n == nil {
		return new(node[V])
	}
	s.first, n.next = n.next, nil
	s.len--
	s.least = min(s.least, s.len)
	return n
}

// put keeps n, unless there are enough.
func (s *freeList[V]) put(n *node[V]) {
	if s.len == maxFree {
		return
	}
	n.next = s.first
	s.first = n
	s.len++
}

// trim drops all nodes if many of them were not needed since the last call.
func (s *freeList[V]) trim() {
	if s.least > keptFree {
		*s = freeList[V]{}
	}
	s.least = s.len
}
