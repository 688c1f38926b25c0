package index

import (
	"iter"

	"k8s.io/apimachinery/pkg/labels"
)

// Index finds the objects of an Indexer by a key that a function computes for each of them. It
// is a handle: made once with New or Single, added to one Indexer, and used for lookups, which
// therefore need neither a name nor an error. K can be any comparable type, such as
// netip.Addr, types.UID or a struct of several fields. After that Indexer was released, the
// index can be added to another one; for two at the same time, make a Clone.
//
// The index function is called for every object of a write before that is stored, and for those
// that are there when the index is added, without a lock that readers take, by one goroutine at
// a time; Panics and Slowest call it, too. It may read from the indexer, but must not write
// to it, or add or remove indexes, which would wait for the function to return. Nor must it wait
// for its informer, or modify the object. Its result must depend on the object alone. If it
// panics, nothing of the batch is stored and the panic reaches the writer. The index keeps
// copies of strings in keys, so that they do not hold on to the objects' memory.
//
// Lookups are safe for concurrent use. They hold the indexer's read lock for a moment that
// does not depend on the number of objects, and return one consistent state: later writes do
// not show in it. Before the index is added to an Indexer, and after it was removed, they
// panic with an error that wraps [ErrNotAdded] rather than find nothing; after the Indexer was
// released, with one that wraps [ErrReleased].
type Index[K comparable, T Object] struct {
	attachment[T]
	keys   func(dst []K, obj T) []K // appends the keys of obj; nil if the user's function is
	labels []string                 // the label keys, if it was made by Labels; term is set, too
	term   func(*Index[K, T], labels.Requirement) (Term[T], bool)
	posts  *postings[K] // guarded by owner.mu

	// What stage computed for the objects of a batch: the keys of object i end
	// at ends[i]. Guarded by owner.writer.
	staged []K
	ends   []int
}

// New returns an index that files each object under all keys that the function keys
// returns for it. Repeated keys count once; an object without keys is not in the index.
// The slice is not kept.
//
// The name appears in metrics and in adapters; no two indexes of an Indexer
// have the same one.
func New[K comparable, T Object](name string, keys func(T) []K) *Index[K, T] {
	if keys == nil {
		return newIndex[K, T](name, nil)
	}
	return newIndex(name, func(dst []K, obj T) []K { return append(dst, keys(obj)...) })
}

func newIndex[K comparable, T Object](name string, keys func(dst []K, obj T) []K) *Index[K, T] {
	return &Index[K, T]{attachment: attachment[T]{name: name}, keys: keys, posts: newPostings[K]()}
}

// Single returns an index with at most one key for each object: the one that key
// returns, none if it returns false. Unlike the function of New, key need not allocate
// a slice.
func Single[K comparable, T Object](name string, key func(T) (K, bool)) *Index[K, T] {
	if key == nil {
		return newIndex[K, T](name, nil)
	}
	return newIndex(name, func(dst []K, obj T) []K {
		if k, ok := key(obj); ok {
			dst = append(dst, k)
		}
		return dst
	})
}

// Clone returns another index of the same name and function, which was not added to an
// Indexer.
func (x *Index[K, T]) Clone() *Index[K, T] {
	c := newIndex(x.name, x.keys)
	c.labels, c.term = x.labels, x.term
	return c
}

// Get returns the objects filed under k, in no particular order, nil if there
// are none. The slice is the caller's.
func (x *Index[K, T]) Get(k K) []T {
	objects, found := x.look("Get", k)
	return collectAt(objects, found)
}

// All ranges over the objects filed under k, in no particular order, without
// copying them and without holding a lock.
func (x *Index[K, T]) All(k K) iter.Seq[T] {
	return func(yield func(T) bool) {
		objects, found := x.look("All", k)
		table := objects.table
		for i := range found.count() {
			for _, pos := range found.page(i) {
				if !yield(table[pos>>pageBits][pos&pageMask]) {
					return
				}
			}
		}
	}
}

// One returns an object that is filed under k, and how many there are: for keys that
// are meant to be unique. If there are several, any of them is returned.
func (x *Index[K, T]) One(k K) (obj T, n int) {
	objects, found := x.look("One", k)
	return oneAt(objects, found)
}

// Has reports whether an object is filed under k.
func (x *Index[K, T]) Has(k K) bool { return x.Len(k) > 0 }

// Len returns how many objects are filed under k.
func (x *Index[K, T]) Len(k K) int {
	owner := x.mustOwner("Len")
	hash := hashOf(x.posts.seed, k)
	owner.mu.RLock()
	defer owner.mu.RUnlock()
	x.mustBelongTo(owner, "Len")
	n := x.posts.count(hash, k)
	if n == 0 {
		checkFound(owner, "Len", x.name, k)
	}
	return n
}

// Keys ranges over the keys under which there is at least one object, in no
// particular order.
func (x *Index[K, T]) Keys() iter.Seq[K] {
	return func(yield func(K) bool) {
		posts, _ := x.viewKeys("Keys")
		allKeys(posts)(yield)
	}
}

// ListKeys returns the keys under which there is at least one object, in no
// particular order, nil if there are none. The slice is the caller's.
func (x *Index[K, T]) ListKeys() []K {
	posts, n := x.viewKeys("ListKeys")
	if n == 0 {
		return nil
	}
	list := make([]K, 0, n)
	for _, page := range posts.table {
		for i := range page {
			if p := &page[i]; p.list != unused {
				list = append(list, p.key)
			}
		}
	}
	return list
}

// viewKeys returns the postings, of which n are used, for a read.
func (x *Index[K, T]) viewKeys(read string) (posts pages[posting[K]], n uint32) {
	owner := x.mustOwner(read)
	owner.mu.RLock()
	defer owner.mu.RUnlock()
	x.mustBelongTo(owner, read)
	if owner.released {
		owner.checkReadable(read + " of an index")
	}
	x.posts.shape.share()
	return x.posts.posts.pages, x.posts.live
}

// In returns the index as it was when s was taken. It panics with an error that wraps
// ErrNotAdded if the index was added to the Indexer after s was taken, or to another
// one.
func (x *Index[K, T]) In(s *Snapshot[T]) View[K, T] {
	return View[K, T]{objects: s.objects, posts: x.frozen(s)}
}

// frozen returns the index's part of s.
func (x *Index[K, T]) frozen(s *Snapshot[T]) postingsView[K] {
	for _, part := range s.indexes {
		if f, ok := part.(*frozenIndex[K, T]); ok && f.index == x {
			return f.posts
		}
	}
	panic(notAddedError[T]("the use of a snapshot", x.name))
}

// look returns the objects and the positions in it of those filed under k, for a
// read.
func (x *Index[K, T]) look(read string, k K) (objects pages[T], found places) {
	owner := x.mustOwner(read)
	hash := hashOf(x.posts.seed, k)
	owner.mu.RLock()
	if x.owner.Load() == owner { // else another indexer may be filling it
		if id := x.posts.find(hash, k); id != 0 {
			objects, found = owner.objects.pages, x.posts.places(id)
			owner.objectsEpoch.share()
			owner.mu.RUnlock()
			return objects, found
		}
	}
	defer owner.mu.RUnlock()
	x.mustBelongTo(owner, read)
	checkFound(owner, read, x.name, k)
	return objects, found
}

func oneAt[T Object](objects pages[T], found places) (obj T, n int) {
	if found.n > 0 {
		obj = objects.at(found.page(0)[0])
	}
	return obj, int(found.n)
}

// collectAt returns the objects at the positions found.
func collectAt[T Object](objects pages[T], found places) []T {
	if found.n == 0 {
		return nil
	}
	list := make([]T, 0, found.n)
	for i := range found.count() {
		for _, pos := range found.page(i) {
			list = append(list, objects.at(pos))
		}
	}
	return list
}
