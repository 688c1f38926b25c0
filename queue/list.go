package queue

// list is a doubly linked list. What is in it has a node of its own, and is in one list at
// a time.
type list[T any] struct{ first, last *node[T] }

type node[T any] struct {
	prev, next *node[T]
	of         *T
}

// append puts n, which is in no list, at the end.
func (l *list[T]) append(n *node[T]) {
	n.prev, n.next = l.last, nil
	*l.after(n.prev) = n
	l.last = n
}

// remove takes n, which is in the list, out of it.
func (l *list[T]) remove(n *node[T]) {
	*l.after(n.prev) = n.next
	if n.next == nil {
		l.last = n.prev
	} else {
		n.next.prev = n.prev
	}
	n.prev, n.next = nil, nil
}

// after returns the place of what follows n, or of what is first.
func (l *list[T]) after(n *node[T]) **node[T] {
	if n == nil {
		return &l.first
	}
	return &n.next
}
