package index

import (
	"cmp"
	"iter"
)

// OrderedView is an Ordered index as it was when a Snapshot was taken. Its methods are
// those of Ordered; they take no lock. The zero OrderedView is empty.
type OrderedView[K cmp.Ordered, T Object] struct{ tree *orderedTree[K, T] }

// Len returns how many objects are in the index.
func (v OrderedView[K, T]) Len() int {
	if v.tree == nil {
		return 0
	}
	return v.tree.Len()
}

// All ranges over the keys and objects of the index, in order.
func (v OrderedView[K, T]) All() iter.Seq2[K, T] { return v.Range(Range[K]{}) }

// Range ranges over the keys and objects of a range, in order.
func (v OrderedView[K, T]) Range(r Range[K]) iter.Seq2[K, T] {
	return func(yield func(K, T) bool) {
		if v.tree == nil {
			return
		}
		visit := func(e *orderedEntry[K, T]) bool {
			switch {
			case r.isBefore(e.key, e.name):
				return true // there is at most one: where the range begins after it
			case r.isAfter(e.key, e.name):
				return false
			}
			return yield(e.key, e.object)
		}
		if r.from == nil {
			v.tree.Ascend(visit)
		} else {
			v.tree.AscendGreaterOrEqual(&orderedEntry[K, T]{key: r.from.key, name: r.from.name}, visit)
		}
	}
}

// Backward does as Range, from the last to the first.
func (v OrderedView[K, T]) Backward(r Range[K]) iter.Seq2[K, T] {
	return func(yield func(K, T) bool) {
		if v.tree == nil {
			return
		}
		visit := func(e *orderedEntry[K, T]) bool {
			switch {
			case r.isAfter(e.key, e.name):
				return true // there is at most one, as above
			case r.isBefore(e.key, e.name):
				return false
			}
			return yield(e.key, e.object)
		}
		if r.to == nil {
			v.tree.Descend(visit)
		} else {
			v.tree.DescendLessOrEqual(&orderedEntry[K, T]{key: r.to.key, name: r.to.name}, visit)
		}
	}
}
