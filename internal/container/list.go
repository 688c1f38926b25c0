package container

// List is a list of values that contain a Node, each of which is in one list at a time. Its
// zero value is empty and ready for use.
type List[T any] struct{ First, Last *Node[T] }

// Node is an element of a list. It belongs to a value that sets Of to itself.
type Node[T any] struct {
	Prev, Next *Node[T]
	Of         *T
}

// Append puts n, which is in no list, at the end.
func (l *List[T]) Append(n *Node[T]) {
	n.Prev, n.Next = l.Last, nil
	*l.after(n.Prev) = n
	l.Last = n
}

// Remove takes n, which is in the list, out of it.
func (l *List[T]) Remove(n *Node[T]) {
	*l.after(n.Prev) = n.Next
	if n.Next == nil {
		l.Last = n.Prev
	} else {
		n.Next.Prev = n.Prev
	}
	n.Prev, n.Next = nil, nil
}

// after returns the place of the value that follows n, or of the first value.
func (l *List[T]) after(n *Node[T]) **Node[T] {
	if n == nil {
		return &l.First
	}
	return &n.Next
}
