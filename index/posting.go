package index

import (
	"hash/maphash"
	"iter"
	"slices"
)

// posting lists the positions of the objects filed under one index key, in no
// particular order. Most postings of an index whose keys are unique, or nearly so,
// have one object, which needs no list.
type posting[K comparable] struct {
	key  K
	list *list  // nil: there is one object, at most
	hash uint32 // of the key
	one  uint32 // its position; noPosition: there is none yet
}

const noPosition = 1<<32 - 1

// list is where the positions of a posting are if there are several.
type list struct {
	vector[uint32]
	gen uint64 // the generation of the postings' shape that the struct was made in
}

// newList returns a list with one position. It is made with room for a few more in
// one piece of memory, as most lists are short.
func newList(lists, shape *epoch, pos uint32) *list {
	made := &struct {
		list  list
		table [1][]uint32
		gens  [1]uint64
		page  [4]uint32
	}{page: [4]uint32{pos}, gens: [1]uint64{lists.gen}}
	made.table[0] = made.page[:1]
	made.list = list{
		vector: vector[uint32]{pages: pages[uint32]{table: made.table[:], n: 1}, gens: made.gens[:], tableGen: lists.gen},
		gen:    shape.gen,
	}
	return &made.list
}

// unused is the list of all postings that are unused, of which one is the number of
// another. It has nothing in it.
var unused = &list{}

// places is the read side of a posting: n positions, in a table, or a single one without a
// table. Loops over them go from page to page, in two loops and with one call of the body, so
// that the compiler can inline that call. It has 32 bytes: the compiler keeps no struct in
// registers that is larger (CanSSA in cmd/compile).
type places struct {
	table [][]uint32
	n     uint32
	one   [1]uint32
}

// placesOf returns the positions of the objects of p.
func placesOf[K comparable](p *posting[K]) places {
	if p.list != nil {
		return places{table: p.list.table, n: p.list.n}
	}
	return places{n: 1, one: [1]uint32{p.one}}
}

// count returns the number of pages.
func (p *places) count() int {
	if p.table == nil {
		return int(p.n)
	}
	return len(p.table)
}

// page returns page i.
func (p *places) page(i int) []uint32 {
	if p.table == nil {
		return p.one[:]
	}
	return p.table[i]
}

// member says that an object stands in a posting: which, and where in its
// list. The members of an object with several keys stand together in postings.rest,
// as a run in the order of their numbers; postings.first then has the run.
type member struct {
	id uint32 // number of the posting; 0: the object has no index key
	at uint32 // place in the posting's list
}

// several in the id of a member, with the number of members, makes it a run, which
// begins at its place in postings.rest.
const several = 1 << 31

func (m member) isRun() bool { return m.id >= several }

// run returns how many members a run has, and where the first is.
func (m member) run() (n, from uint32) { return m.id &^ several, m.at }

// postingsView is the read side of an index: everything that is needed to find
// the objects of a key, and the keys of an object.
type postingsView[K comparable] struct {
	seed  maphash.Seed
	keys  tables[struct{}, struct{}] // by hashes of keys, the numbers of postings
	posts pages[posting[K]]          // number 0 is not used
	first pages[member]              // by position of the object
	rest  pages[member]              // place 0 is not used
}

func hashOf[K comparable](seed maphash.Seed, k K) uint32 {
	return uint32(maphash.Comparable(seed, k) >> 32)
}

// find returns the number of k's posting, 0 if there is none.
func (v *postingsView[K]) find(k K) uint32 {
	return findPosting(&v.keys, &v.posts, hashOf(v.seed, k), k)
}

// allKeys ranges over the keys under which there is an object.
func allKeys[K comparable](posts pages[posting[K]]) iter.Seq[K] {
	return func(yield func(K) bool) {
		for _, page := range posts.table {
			for i := range page {
				if p := &page[i]; p.list != unused && !yield(p.key) {
					return
				}
			}
		}
	}
}

// where returns a function that reports whether the object at pos is filed under a key
// for which holds reports true.
func (v *postingsView[K]) where(holds func(K) bool) func(pos uint32) bool {
	return func(pos uint32) bool {
		for m := range membersOf(&v.first, &v.rest, pos) {
			if holds(v.posts.ref(m.id).key) {
				return true
			}
		}
		return false
	}
}

func findPosting[K comparable](keys *tables[struct{}, struct{}], posts *pages[posting[K]], hash uint32, k K) uint32 {
	t := keys.table(hash)
	if t == nil {
		return 0
	}
	for i := t.home(hash); ; i = t.next(i) {
		e := &t.entries[i]
		if e.place == 0 || e.hash == hash && posts.ref(e.place).key == k {
			return e.place
		}
	}
}

// membersOf ranges over the members of the object at pos.
func membersOf(first, rest *pages[member], pos uint32) iter.Seq[member] {
	return func(yield func(member) bool) {
		m := first.at(pos)
		if !m.isRun() {
			if m.id != 0 {
				yield(m)
			}
			return
		}
		n, from := m.run()
		for i := range n {
			if !yield(rest.at(from + i)) {
				return
			}
		}
	}
}

// findMember returns the place in rest of the member of a run that is in posting id.
func findMember(rest *pages[member], run member, id uint32) uint32 {
	n, from := run.run()
	low, high := from, from+n-1
	for low < high {
		if middle := (low + high) / 2; rest.at(middle).id < id {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// byID finds a member in a slice, in order of the numbers of postings.
func byID(members []member, id uint32) (int, bool) {
	return slices.BinarySearchFunc(members, id, func(m member, id uint32) int { return int(m.id) - int(id) })
}
