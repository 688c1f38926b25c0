package index

import (
	"cmp"
	"iter"

	"github.com/google/btree"
)

// Ordered is an index whose keys have an order: it finds the objects of a range of keys, in
// that order or against it, and page by page. It is a handle as [Index] is, made with
// NewOrdered; the rules for index functions and lookups of Index hold for it, too. Objects of
// the same key are in the order of their names; see Range.
//
// Every write of an object searches the tree of the index, even if the object's key has not
// changed. The tree is that of github.com/google/btree, whose copies share what has not been
// written to since.
type Ordered[K cmp.Ordered, T Object] struct {
	attachment[T]
	key    func(T) (K, bool)
	cloner cloner[K]
	orderedState[K, T]

	staged []orderedEntry[K, T] // guarded by the owner's writer
}

// orderedEntry is an object in an ordered index. It does not change.
type orderedEntry[K cmp.Ordered, T Object] struct {
	key    K
	name   Key
	object T
	none   bool // the object is not in the index
}

func (e *orderedEntry[K, T]) compare(other *orderedEntry[K, T]) int {
	return cmp.Or(cmp.Compare(e.key, other.key), cmp.Compare(e.name.Namespace, other.name.Namespace), cmp.Compare(e.name.Name, other.name.Name))
}

type orderedTree[K cmp.Ordered, T Object] = btree.BTreeG[*orderedEntry[K, T]]

// orderedState is all that an ordered index knows of objects. It is guarded by the
// owner's locks.
type orderedState[K cmp.Ordered, T Object] struct {
	tree    *orderedTree[K, T]
	entries vector[*orderedEntry[K, T]] // by position; nil: the object is not in the index
	epoch   epoch                       // of both
}

func (s *orderedState[K, T]) reset(n int) {
	// 32 is the degree that the documentation of the package benchmarks with.
	s.tree = btree.NewG(32, func(a, b *orderedEntry[K, T]) bool { return a.compare(b) < 0 })
	s.entries = roomFor[*orderedEntry[K, T]](&s.epoch, n)
}

// NewOrdered returns an index under which an object is found by the key that key
// returns for it, by none if that returns false. For times, take UnixNano. The name is
// used as with New.
func NewOrdered[K cmp.Ordered, T Object](name string, key func(T) (K, bool)) *Ordered[K, T] {
	x := &Ordered[K, T]{attachment: attachment[T]{name: name}, key: key, cloner: clonerOf[K]()}
	x.reset(0)
	return x
}

// Len returns how many objects are in the index.
func (x *Ordered[K, T]) Len() int { return x.view("Len").Len() }

// All ranges over the keys and objects of the index, in order, without holding a lock.
func (x *Ordered[K, T]) All() iter.Seq2[K, T] { return x.Range(Range[K]{}) }

// Range ranges over the keys and objects of a range, in order, without holding a lock.
func (x *Ordered[K, T]) Range(r Range[K]) iter.Seq2[K, T] {
	return func(yield func(K, T) bool) { x.view("Range").Range(r)(yield) }
}

// Backward does as Range, from the last to the first.
func (x *Ordered[K, T]) Backward(r Range[K]) iter.Seq2[K, T] {
	return func(yield func(K, T) bool) { x.view("Backward").Backward(r)(yield) }
}

// In returns the index as it was when s was taken. It panics as Index.In does.
func (x *Ordered[K, T]) In(s *Snapshot[T]) OrderedView[K, T] {
	for _, part := range s.indexes {
		if f, ok := part.(*frozenOrdered[K, T]); ok && f.index == x {
			return OrderedView[K, T]{tree: f.tree}
		}
	}
	panic(notAddedError[T]("In", x.name))
}

// view returns the index as it is, for a read.
func (x *Ordered[K, T]) view(read string) OrderedView[K, T] {
	owner := x.mustOwner(read)
	owner.mu.RLock()
	defer owner.mu.RUnlock()
	owner.checkReadable(read)
	x.mustBelongTo(owner, read)
	x.epoch.share()
	return OrderedView[K, T]{tree: x.tree}
}
