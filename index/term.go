package index

import (
	"fmt"
	"iter"
	"reflect"
)

// Term is a condition on the objects of an Indexer, made by [Index.Is] and
// [Index.Where], joined with others by [Or] and [Not], and answered by Intersect. No
// type outside of this package implements it.
type Term[T Object] interface {
	// indexer returns the indexer that the term's indexes were added to. It panics if
	// there is none, or are several.
	indexer(read string) *Indexer[T]
	// live returns a function that finds the objects of the term in the current
	// state. The caller of live holds the read lock of the indexer, and releases it
	// before it calls that, with the number of objects.
	live(owner *Indexer[T], read string) func(objects uint32) set
	// in returns the objects of the term in s.
	in(s *Snapshot[T]) set
}

// Is returns the condition that an object is filed under at least one of keys.
func (x *Index[K, T]) Is(keys ...K) Term[T] { return &is[K, T]{x, keys} }

type is[K comparable, T Object] struct {
	index *Index[K, T]
	keys  []K
}

// Where returns the condition that an object is filed under a key for which holds
// reports true. An Intersect with no other term looks at every object. No lock is held
// while holds runs.
func (x *Index[K, T]) Where(holds func(K) bool) Term[T] { return &where[K, T]{x, holds} }

type where[K comparable, T Object] struct {
	index *Index[K, T]
	holds func(K) bool
}

func (t *is[K, T]) indexer(read string) *Indexer[T] { return t.index.mustOwner(read) }

func (t *is[K, T]) live(owner *Indexer[T], read string) func(uint32) set {
	view := t.index.liveView(owner, read)
	return func(uint32) set { return set{matches: matchesOf(&view, t.keys)} }
}

func (t *is[K, T]) in(s *Snapshot[T]) set {
	view := t.index.frozen(s)
	return set{matches: matchesOf(&view, t.keys)}
}

func (t *where[K, T]) indexer(read string) *Indexer[T] { return t.index.mustOwner(read) }

func (t *where[K, T]) live(owner *Indexer[T], read string) func(uint32) set {
	view := t.index.liveView(owner, read)
	return func(objects uint32) set { return setWhere(objects, view.where(t.holds)) }
}

func (t *where[K, T]) in(s *Snapshot[T]) set {
	view := t.index.frozen(s)
	return setWhere(s.objects.n, view.where(t.holds))
}

// liveView returns the index as it is. The caller holds the owner's read lock.
func (x *Index[K, T]) liveView(owner *Indexer[T], read string) postingsView[K] {
	x.mustBelongTo(owner, read)
	x.posts.lists.share()
	x.posts.shape.share()
	return x.posts.view()
}

// Intersect ranges over the objects for which every term holds, in one
// consistent state of the indexer that the terms' indexes were added to. It
// ranges over the smallest of the terms and asks the others, so it costs what
// that one costs. No lock is held while the loop body runs.
//
// The indexes of all terms must belong to one Indexer. Otherwise, with a nil term, or
// without terms, Intersect panics.
func Intersect[T Object](terms ...Term[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		objects, sets := ownerOf("Intersect", terms).match("Intersect", func() []Term[T] { return terms })
		intersect(objects, sets, yield)
	}
}

// ownerOf returns the indexer of all terms, and panics if that is not one.
func ownerOf[T Object](read string, terms []Term[T]) *Indexer[T] {
	var owner *Indexer[T]
	for _, term := range terms {
		if term == nil {
			panic(fmt.Errorf("index: %s of objects of type %v: a term is nil", read, reflect.TypeFor[T]()))
		}
		switch of := term.indexer(read); {
		case owner == nil:
			owner = of
		case owner != of:
			panic(fmt.Errorf("index: %s of objects of type %v: the indexes belong to different indexers", read, reflect.TypeFor[T]()))
		}
	}
	if owner == nil {
		panic(fmt.Errorf("index: %s of objects of type %v: there are no terms", read, reflect.TypeFor[T]()))
	}
	return owner
}

// Intersect ranges over the objects of the snapshot for which every term holds, as the
// function Intersect does; with no terms, over all objects. It panics as
// [Index.In] does.
func (s *Snapshot[T]) Intersect(terms ...Term[T]) iter.Seq[T] {
	if len(terms) == 0 {
		return s.All()
	}
	return func(yield func(T) bool) {
		sets := make([]set, len(terms))
		for i, term := range terms {
			if term == nil {
				panic(fmt.Errorf("index: Intersect of objects of type %v: a term is nil", reflect.TypeFor[T]()))
			}
			sets[i] = term.in(s)
		}
		intersect(s.objects, sets, yield)
	}
}

// intersect ranges over the objects at positions that are in all sets.
func intersect[T Object](objects pages[T], sets []set, yield func(T) bool) {
	smallest := 0
	for i := range sets {
		if sets[i].size < sets[smallest].size {
			smallest = i
		}
	}
candidates:
	for pos := range sets[smallest].all() {
		for i := range sets {
			if i != smallest && !sets[i].has(pos) {
				continue candidates
			}
		}
		if !yield(objects.at(pos)) {
			return
		}
	}
}
