package index

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// postings is the state of one index over the objects of an Indexer, which
// stand at dense positions: for each index key the positions of its objects,
// and for each position its keys. It knows nothing of the objects. All of it
// is guarded by the indexer's locks.
//
// Two epochs keep what is copied small: a look-up of one key shares only the
// lists of positions, a snapshot or a join of several indexes shares the
// shape too, which is everything else.
type postings[K comparable] struct {
	seed   maphash.Seed
	cloner cloner[K]
	contents[K]
	lists epoch
	shape epoch

	ids   []uint32 // scratch of assign
	chain []member // scratch of assign
}

// contents is all that postings know of objects. A copy of it, with epochs that are
// forks, is a fork.
type contents[K comparable] struct {
	keys  hashTable[struct{}, struct{}]
	posts vector[posting[K]]
	first vector[member]
	rest  vector[member]

	free     uint32             // number of an unused posting; 0: there is none
	live     uint32             // number of postings that are used
	freeRuns [maxRunSize]uint32 // for each size, the place of an unused run in rest
	inRuns   uint32             // number of places in rest that runs use
}

func newPostings[K comparable]() *postings[K] {
	p := &postings[K]{seed: maphash.MakeSeed(), cloner: clonerOf[K]()}
	p.reset(0)
	return p
}

// reset forgets all objects, and makes room for n others. Views stay as they are.
func (s *postings[K]) reset(n int) {
	s.contents = contents[K]{
		first: roomFor[member](&s.shape, n),
		posts: makeSmall[posting[K]](&s.shape, 1),
		rest:  makeSmall[member](&s.shape, 1),
	}
	s.posts.change(&s.shape, 0).list = unused
}

// fork returns postings with the same contents, which can be written to while
// others read s, if s is not written to meanwhile.
func (s *postings[K]) fork() *postings[K] {
	f := &postings[K]{seed: s.seed, cloner: s.cloner, contents: s.contents}
	f.lists.fork(&s.lists)
	f.shape.fork(&s.shape)
	return f
}

// adopt takes over the contents of a fork. Views stay as they are.
func (s *postings[K]) adopt(fork *postings[K]) {
	s.contents = fork.contents
	s.lists.adopt(&fork.lists)
	s.shape.adopt(&fork.shape)
}

// begin is called before the first write of a batch.
func (s *postings[K]) begin() {
	s.lists.begin()
	s.shape.begin()
}

func (s *postings[K]) view() postingsView[K] {
	return postingsView[K]{s.seed, s.keys.tables, s.posts.pages, s.first.pages, s.rest.pages}
}

// look returns the positions of the objects filed under k.
func (s *postings[K]) look(hash uint32, k K) places {
	if id := s.find(hash, k); id != 0 {
		return s.places(id)
	}
	return places{}
}

// places returns the positions of the objects of a posting.
func (s *postings[K]) places(id uint32) places {
	s.lists.share()
	return placesOf(s.posts.ref(id))
}

// count returns how many objects are filed under k. It shares nothing, so that the
// writer has nothing to copy.
func (s *postings[K]) count(hash uint32, k K) int {
	id := s.find(hash, k)
	if id == 0 {
		return 0
	}
	if l := s.posts.ref(id).list; l != nil {
		return int(l.n)
	}
	return 1
}

// add makes room for one more object, at the next position, without keys.
func (s *postings[K]) add() { s.first.push(&s.shape, member{}) }

// addUnder makes room for one more object and files it under k. It returns the
// number of the posting.
func (s *postings[K]) addUnder(k K) uint32 {
	id := s.obtain(k)
	s.first.push(&s.shape, s.link(id, s.first.n))
	return id
}

// assign files the object at pos under keys and no others.
func (s *postings[K]) assign(pos uint32, keys []K) {
	m := s.first.at(pos)
	switch {
	case len(keys) > 1 || m.isRun():
		s.assignMany(pos, m, keys)
		return
	case m.id == 0 && len(keys) == 0:
		return
	case m.id != 0 && len(keys) == 1 && s.posts.ref(m.id).key == keys[0]:
		return
	}
	if m.id != 0 {
		s.unlink(m)
		m = member{}
	}
	if len(keys) == 1 {
		m = s.link(s.obtain(keys[0]), pos)
	}
	s.first.set(&s.shape, pos, m)
}

// assignMany is assign for objects that had several keys or get several; before is
// their member. It compares the numbers of the postings, old and new, both in order.
func (s *postings[K]) assignMany(pos uint32, before member, keys []K) {
	s.ids = s.ids[:0]
	for _, k := range keys {
		s.ids = append(s.ids, s.obtain(k))
	}
	slices.Sort(s.ids)
	s.ids = slices.Compact(s.ids)

	s.chain = s.chain[:0]
	for m := range membersOf(&s.first.pages, &s.rest.pages, pos) {
		s.chain = append(s.chain, m)
	}
	if slices.EqualFunc(s.ids, s.chain, func(id uint32, m member) bool { return id == m.id }) {
		return
	}
	for _, m := range s.chain {
		if _, keep := slices.BinarySearch(s.ids, m.id); !keep {
			s.unlink(m)
		}
	}
	s.freeRun(before)
	if len(s.ids) == 0 {
		s.first.set(&s.shape, pos, member{})
		return
	}
	// Postings that stay keep their place; unlinking has not moved this object
	// within them.
	run := s.newRun(len(s.ids))
	for i, id := range s.ids {
		m := member{id: id}
		if old, found := byID(s.chain, id); found {
			m.at = s.chain[old].at
		} else {
			m = s.link(id, pos)
		}
		if !run.isRun() {
			run = m
			break
		}
		s.rest.set(&s.shape, run.at+uint32(i), m)
	}
	s.first.set(&s.shape, pos, run)
}

// remove takes out the object at pos; the object at the last position moves
// to pos.
func (s *postings[K]) remove(pos uint32) {
	m := s.first.at(pos)
	if m.isRun() {
		s.assignMany(pos, m, nil)
	} else if m.id != 0 {
		s.unlink(m)
	}
	last := s.first.n - 1
	if last != pos {
		m := s.first.at(last)
		s.first.set(&s.shape, pos, m)
		for m := range membersOf(&s.first.pages, &s.rest.pages, pos) {
			if p := s.posts.ref(m.id); p.list == nil {
				s.posts.change(&s.shape, m.id).one = pos
			} else {
				s.ownList(m.id).set(&s.lists, m.at, pos)
			}
		}
	}
	s.first.pop(&s.shape)
}

// find returns the number of k's posting, 0 if there is none.
func (s *postings[K]) find(hash uint32, k K) uint32 {
	return findPosting(&s.keys.tables, &s.posts.pages, hash, k)
}

// obtain returns the number of k's posting, a new and empty one if need be.
// The caller links an object to it.
func (s *postings[K]) obtain(k K) uint32 {
	hash := hashOf(s.seed, k)
	if id := s.find(hash, k); id != 0 {
		return id
	}
	p := posting[K]{key: s.cloner.clone(k), hash: hash, one: noPosition}
	id := s.free
	if id != 0 {
		s.free = s.posts.ref(id).one
		s.posts.set(&s.shape, id, p)
	} else {
		id = s.posts.n
		s.posts.push(&s.shape, p)
	}
	s.keys.insert(&s.shape, entry[struct{}, struct{}]{hash: hash, place: id})
	s.live++
	return id
}

// ownList returns the list of posting id, which has one, copied first if a view may
// hold it.
func (s *postings[K]) ownList(id uint32) *list {
	l := s.posts.ref(id).list
	if l.gen != s.shape.gen {
		// The copy has its pages in common with the original. That is safe: a reader
		// of the original has shared the lists as well as the shape.
		c := *l
		c.gen = s.shape.gen
		l = &c
		s.posts.change(&s.shape, id).list = l
	}
	return l
}

// link adds the object at pos to posting id.
func (s *postings[K]) link(id, pos uint32) member {
	if s.posts.ref(id).list == nil {
		p := s.posts.change(&s.shape, id)
		if p.one == noPosition {
			p.one = pos
			return member{id: id}
		}
		p.list, p.one = newList(&s.lists, &s.shape, p.one), noPosition
	}
	l := s.ownList(id)
	l.push(&s.lists, pos)
	return member{id: id, at: l.n - 1}
}

// unlink takes the object of which m is a member out of m's posting; the last
// object of the list takes its place. A posting that is empty then goes.
func (s *postings[K]) unlink(m member) {
	if p := s.posts.ref(m.id); p.list == nil {
		s.keys.remove(&s.shape, p.hash, m.id)
		s.posts.set(&s.shape, m.id, posting[K]{list: unused, one: s.free})
		s.free = m.id
		s.live--
		return
	}
	l := s.ownList(m.id)
	if last := l.n - 1; m.at != last {
		moved := l.at(last)
		l.set(&s.lists, m.at, moved)
		s.setPlace(moved, m.id, m.at)
	}
	l.pop(&s.lists)
	if l.n == 1 {
		p := s.posts.change(&s.shape, m.id)
		p.one, p.list = l.at(0), nil
	}
}

// setPlace notes that the object at pos stands at place at in posting id.
func (s *postings[K]) setPlace(pos, id, at uint32) {
	m := s.first.at(pos)
	if !m.isRun() {
		s.first.set(&s.shape, pos, member{id, at})
		return
	}
	s.rest.set(&s.shape, findMember(&s.rest.pages, m, id), member{id, at})
}

// A run takes as many places in rest as the next power of two has. Those that are not
// used any more form a list for each size, in which at is the next one; their sizes
// have this limit.
const maxRunSize = 32

// sizeOfRun returns the size of a run of n members, as a power of two.
func sizeOfRun(n uint32) int { return bits.Len32(n - 1) }

// newRun returns a run with room for n members, or a member that is no run if there
// is one only.
func (s *postings[K]) newRun(n int) member {
	if n < 2 {
		return member{}
	}
	size := sizeOfRun(uint32(n))
	from := s.freeRuns[size]
	if from != 0 {
		s.freeRuns[size] = s.rest.at(from).at
	} else {
		from = s.rest.n
		for range 1 << size {
			s.rest.push(&s.shape, member{})
		}
	}
	s.inRuns += 1 << size
	return member{id: several | uint32(n), at: from}
}

// freeRun gives up the places of a run; m may be no run.
func (s *postings[K]) freeRun(m member) {
	if !m.isRun() {
		return
	}
	n, from := m.run()
	size := sizeOfRun(n)
	s.rest.set(&s.shape, from, member{at: s.freeRuns[size]})
	s.freeRuns[size] = from
	s.inRuns -= 1 << size
}
