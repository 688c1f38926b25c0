package index

// Or returns the condition that at least one of terms holds. The rules for the terms of
// Intersect hold for these, too.
func Or[T Object](terms ...Term[T]) Term[T] { return or[T](terms) }

type or[T Object] []Term[T]

func (o or[T]) indexer(read string) *Indexer[T] { return ownerOf(read, o) }

func (o or[T]) live(owner *Indexer[T], read string) func(uint32) set {
	finds := make([]func(uint32) set, len(o))
	for i, term := range o {
		finds[i] = term.live(owner, read)
	}
	return func(objects uint32) set {
		parts := make([]set, len(finds))
		for i, find := range finds {
			parts[i] = find(objects)
		}
		return unionOf(parts)
	}
}

func (o or[T]) in(s *Snapshot[T]) set {
	parts := make([]set, len(o))
	for i, term := range o {
		parts[i] = term.in(s)
	}
	return unionOf(parts)
}

// Not returns the condition that term does not hold. An Intersect with no other term
// looks at every object.
func Not[T Object](term Term[T]) Term[T] { return &not[T]{term} }

type not[T Object] struct{ term Term[T] }

func (n *not[T]) indexer(read string) *Indexer[T] { return ownerOf(read, []Term[T]{n.term}) }

func (n *not[T]) live(owner *Indexer[T], read string) func(uint32) set {
	find := n.term.live(owner, read)
	return func(objects uint32) set { return others(find(objects), objects) }
}

func (n *not[T]) in(s *Snapshot[T]) set { return others(n.term.in(s), s.objects.n) }

// others returns the set of positions that are not in s.
func others(s set, objects uint32) set {
	return setWhere(objects, func(pos uint32) bool { return !s.has(pos) })
}
