package index

import (
	"iter"
	"slices"
)

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
	if len(view.keys.list) == 0 {
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

// isIn reports whether pos is in one of the first n lists.
func (m *matches) isIn(pos uint32, n int) bool {
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
					if (i == 0 || !m.isIn(pos, i)) && !yield(pos) {
						return
					}
				}
			}
		}
	}
}
