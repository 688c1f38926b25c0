package index

import (
	"hash/maphash"
	"iter"
)

// posting lists the positions of the objects filed under one index key, in no
// particular order.
type posting[K comparable] struct {
	key  K
	hash uint32
	gen  uint64 // the generation of the postings' shape it was made in
	list vector[uint32]
}

// member says that an object stands in a posting: which, and where in its
// list. The members of one object form a chain, ordered by posting; the first
// stands at the object's own position in postings.first, the others, which
// only multi-valued indexes have, in postings.rest.
type member struct {
	id   uint32 // number of the posting; 0: the object has no index key
	at   uint32 // place in the posting's list
	next uint32 // place of the next member in postings.rest; 0: none
}

// postingsView is the read side of an index: everything that is needed to find
// the objects of a key, and the keys of an object.
type postingsView[K comparable] struct {
	seed  maphash.Seed
	words pages[uint64]      // of the table from keys to numbers of postings
	byID  pages[*posting[K]] // number 0 is not used
	first pages[member]      // by position of the object
	rest  pages[member]      // place 0 is not used
}

func hashOf[K comparable](seed maphash.Seed, k K) uint32 {
	return uint32(maphash.Comparable(seed, k) >> 32)
}

// find returns the number of k's posting, 0 if there is none.
func (v *postingsView[K]) find(k K) uint32 {
	return findPosting(&v.words, &v.byID, hashOf(v.seed, k), k)
}

// list returns the positions of the objects in posting id.
func (v *postingsView[K]) list(id uint32) pages[uint32] {
	if id == 0 {
		return pages[uint32]{}
	}
	return v.byID.at(id).list.pages
}

// allKeys ranges over the keys under which there is an object.
func (v *postingsView[K]) allKeys() iter.Seq[K] {
	return func(yield func(K) bool) {
		for p := range v.byID.all() {
			if p != nil && !yield(p.key) {
				return
			}
		}
	}
}

func findPosting[K comparable](words *pages[uint64], byID *pages[*posting[K]], hash uint32, k K) uint32 {
	for p := probeFor(hash); ; {
		id, ok := p.next(words)
		if !ok {
			return 0
		}
		if byID.at(id).key == k {
			return id
		}
	}
}

// membersOf ranges over the members of the object at pos.
func membersOf(first, rest *pages[member], pos uint32) iter.Seq[member] {
	return func(yield func(member) bool) {
		for m := first.at(pos); m.id != 0; m = rest.at(m.next) {
			if !yield(m) || m.next == 0 {
				return
			}
		}
	}
}
