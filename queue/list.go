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

// spares keeps nodes that are in no list for later.
type spares[V any] struct {
	first *node[V]
	len   int
}

// maxSpares bounds the memory that is kept for later.
const maxSpares = 16384

// take returns a node, whose value may be an old one.
func (s *spares[V]) take() *node[V] {
	n := s.first
	if n == nil {
		return new(node[V])
	}
	s.first, n.next = n.next, nil
	s.len--
	return n
}

// keep keeps n, unless there are enough.
func (s *spares[V]) keep(n *node[V]) {
	if s.len == maxSpares {
		return
	}
	n.next = s.first
	s.first = n
	s.len++
}
