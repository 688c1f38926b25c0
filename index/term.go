package index

import (
	"iter"
	"slices"
)

// Term is a condition on the objects of an Indexer, made by Index.Is and
// joined with others by Intersect. No type outside of this package implements
// it.
type Term[T Object] interface {
	// indexer returns the indexer that the term's index was added to.
	indexer() *Indexer[T]
	// live returns a function that finds the objects of the term in the current
	// state. The caller of live holds the indexer's read lock, and releases it before
	// it calls that.
	live() func() matches
	// in returns the objects of the term in s.
	in(s *Snapshot[T]) matches
}

// Is returns the condition that an object is filed under at least one of keys.
func (x *Index[K, T]) Is(keys ...K) Term[T] { return is[K, T]{x, keys} }

type is[K comparable, T Object] struct {
	index *Index[K, T]
	keys  []K
}

func (t is[K, T]) indexer() *Indexer[T] { return t.index.owner.Load() }

func (t is[K, T]) live() func() matches {
	t.index.posts.lists.share()
	t.index.posts.shape.share()
	view := t.index.posts.view()
	return func() matches { return matchesOf(&view, t.keys) }
}

func (t is[K, T]) in(s *Snapshot[T]) matches {
	view := t.index.frozen(s)
	return matchesOf(&view, t.keys)
}

// matches is the set of positions that stand in any of some postings of one
// index.
type matches struct {
	ids         []uint32 // in order
	lists       []places
	first, rest pages[member]
	size        int // of the lists together
}

func matchesOf[K comparable](view *postingsView[K], keys []K) matches {
	m := matches{first: view.first, rest: view.rest, ids: make([]uint32, 0, len(keys))}
	if len(view.keys.table) == 0 {
		return m
	}
	for _, k := range keys {
		if id := view.find(k); id != 0 {
			m.ids = append(m.ids, id)
		}
	}
	slices.Sort(m.ids)
	m.ids = slices.Compact(m.ids)
	m.lists = make([]places, len(m.ids))
	for i, id := range m.ids {
		m.lists[i] = placesOf(view.posts.ref(id))
		m.size += int(m.lists[i].n)
	}
	return m
}

// has reports whether pos is in one of the first n lists.
func (m *matches) has(pos uint32, n int) bool {
	for member := range membersOf(&m.first, &m.rest, pos) {
		if _, found := slices.BinarySearch(m.ids[:n], member.id); found {
			return true
		}
	}
	return false
}

// all ranges over the positions, each once: a position in several lists is
// given for the first of them.
func (m *matches) all() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i := range m.lists {
			list := &m.lists[i]
			for p := range list.count() {
				for _, pos := range list.page(p) {
					if (i == 0 || !m.has(pos, i)) && !yield(pos) {
						return
					}
				}
			}
		}
	}
}

// Intersect ranges over the objects for which every term holds, in one
// consistent state of the indexer that the terms' indexes were added to. It
// ranges over the smallest of the terms and asks the others, so it costs what
// that one costs. No lock is held while the loop body runs.
//
// An index that was not added to an Indexer holds no objects, and no object is
// in two Indexers; so with such a term, or with terms of different Indexers,
// it ranges over nothing. The same goes for a nil term, and for no terms at all.
func Intersect[T Object](terms ...Term[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		if len(terms) == 0 {
			return
		}
		var owner *Indexer[T]
		if terms[0] != nil {
			owner = terms[0].indexer()
		}
		for _, term := range terms {
			if term == nil || owner == nil || term.indexer() != owner {
				return
			}
		}
		objects, sets := owner.match("Intersect", terms)
		intersect(objects, sets, yield)
	}
}

// Intersect ranges over the objects of the snapshot for which every term
// holds, as the function Intersect does; with no terms, over all objects.
func (s *Snapshot[T]) Intersect(terms ...Term[T]) iter.Seq[T] {
	if len(terms) == 0 {
		return s.All()
	}
	return func(yield func(T) bool) {
		sets := make([]matches, len(terms))
		for i, term := range terms {
			if term == nil {
				return
			}
			sets[i] = term.in(s)
		}
		intersect(s.objects, sets, yield)
	}
}

// intersect ranges over the objects at positions that are in all sets.
func intersect[T Object](objects pages[T], sets []matches, yield func(T) bool) {
	smallest := 0
	for i := range sets {
		if sets[i].size < sets[smallest].size {
			smallest = i
		}
	}
candidates:
	for pos := range sets[smallest].all() {
		for i := range sets {
			if i != smallest && !sets[i].has(pos, len(sets[i].ids)) {
				continue candidates
			}
		}
		if !yield(objects.at(pos)) {
			return
		}
	}
}
