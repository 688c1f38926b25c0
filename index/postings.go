package index

import (
	"hash/maphash"
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
	seed maphash.Seed
	contents[K]
	lists epoch
	shape epoch
}

// contents is all that postings know of objects.
type contents[K comparable] struct {
	keys  table
	byID  vector[*posting[K]]
	first vector[member]
	rest  vector[member]

	// single is, by position, the key of an object that has exactly one, and the
	// zero K for others. It is there for assign alone, to see at a glance that
	// nothing has changed; readers do not look at it. If it is nil, assign is
	// never called.
	single []K

	freeIDs  []uint32 // numbers of postings that were emptied
	freeRest []uint32 // places in rest that are not used
	ids      []uint32 // scratch of assign
	chain    []member // scratch of assign
}

func newPostings[K comparable]() *postings[K] {
	p := &postings[K]{seed: maphash.MakeSeed()}
	p.reset()
	return p
}

// reset forgets all objects. Views stay as they are.
func (s *postings[K]) reset() {
	s.contents = contents[K]{
		byID: makeVector[*posting[K]](s.shape.gen, 1),
		rest: makeVector[member](s.shape.gen, 1),
	}
}

// fork returns empty postings whose contents can be taken over with adopt, if s
// is not written to before.
func (s *postings[K]) fork() *postings[K] {
	f := &postings[K]{seed: s.seed}
	f.lists.gen, f.shape.gen = s.lists.gen, s.shape.gen
	f.reset()
	return f
}

// adopt takes over the contents of a fork. Views stay as they are.
func (s *postings[K]) adopt(fork *postings[K]) {
	s.contents = fork.contents
	s.lists.renew()
	s.shape.renew()
}

// begin is called before the first write of a batch.
func (s *postings[K]) begin() {
	s.lists.begin()
	s.shape.begin()
}

func (s *postings[K]) view() postingsView[K] {
	return postingsView[K]{s.seed, s.keys.words.pages, s.byID.pages, s.first.pages, s.rest.pages}
}

// reserve makes room for n objects altogether.
func (s *postings[K]) reserve(n int) { s.single = slices.Grow(s.single, max(0, n-len(s.single))) }

// add makes room for one more object, at the next position, without keys.
func (s *postings[K]) add() {
	var none K
	s.single = append(s.single, none)
	s.first.push(s.shape.gen, member{})
}

// addUnder makes room for one more object and files it under k. It returns the
// number of the posting.
func (s *postings[K]) addUnder(k K) uint32 {
	id := s.obtain(k)
	s.first.push(s.shape.gen, s.link(id, s.first.n))
	return id
}

// assign files the object at pos under keys and no others.
func (s *postings[K]) assign(pos uint32, keys []K) {
	var none K
	if len(keys) == 1 && keys[0] == s.single[pos] && keys[0] != none {
		return
	}
	m := s.first.at(pos)
	if len(keys) > 1 || m.next != 0 {
		s.assignMany(pos, keys)
		return
	}
	switch {
	case m.id == 0 && len(keys) == 0:
		return
	case m.id != 0 && len(keys) == 1 && s.byID.at(m.id).key == keys[0]:
		return
	}
	if m.id != 0 {
		s.unlink(m)
		m = member{}
	}
	s.single[pos] = none
	if len(keys) == 1 {
		id := s.obtain(keys[0])
		m = s.link(id, pos)
		s.single[pos] = s.byID.at(id).key // which may share its memory with others
	}
	s.first.set(s.shape.gen, pos, m)
}

// assignMany is assign for objects that had several keys or get several. It
// compares the numbers of the postings, old and new, both in order.
func (s *postings[K]) assignMany(pos uint32, keys []K) {
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
	var none K
	s.single[pos] = none
	for i, m := range s.chain {
		if i > 0 {
			s.freeRest = append(s.freeRest, s.chain[i-1].next)
		}
		if _, keep := slices.BinarySearch(s.ids, m.id); !keep {
			s.unlink(m)
		}
	}
	// Postings that stay keep their place; unlinking has not moved this object
	// within them. The chain is written from its end.
	next := uint32(0)
	for i := len(s.ids) - 1; i >= 0; i-- {
		id := s.ids[i]
		m := member{id: id}
		if old, found := slices.BinarySearchFunc(s.chain, id, func(m member, id uint32) int { return int(m.id) - int(id) }); found {
			m.at = s.chain[old].at
		} else {
			m = s.link(id, pos)
		}
		m.next = next
		if i == 0 {
			s.first.set(s.shape.gen, pos, m)
			return
		}
		next = s.store(m)
	}
	s.first.set(s.shape.gen, pos, member{})
}

// store puts m into rest and returns its place.
func (s *postings[K]) store(m member) uint32 {
	if n := len(s.freeRest); n > 0 {
		place := s.freeRest[n-1]
		s.freeRest = s.freeRest[:n-1]
		s.rest.set(s.shape.gen, place, m)
		return place
	}
	s.rest.push(s.shape.gen, m)
	return s.rest.n - 1
}

// remove takes out the object at pos; the object at the last position moves
// to pos.
func (s *postings[K]) remove(pos uint32) {
	s.drop(pos)
	last := s.first.n - 1
	if len(s.single) > 0 {
		s.single[pos] = s.single[last]
		clear(s.single[last:])
		s.single = s.single[:last]
	}
	if last != pos {
		m := s.first.at(last)
		s.first.set(s.shape.gen, pos, m)
		for m := range membersOf(&s.first.pages, &s.rest.pages, pos) {
			s.own(m.id).list.set(s.lists.gen, m.at, pos)
		}
	}
	s.first.pop(s.shape.gen)
}

// find returns the number of k's posting, 0 if there is none.
func (s *postings[K]) find(hash uint32, k K) uint32 {
	return findPosting(&s.keys.words.pages, &s.byID.pages, hash, k)
}

// drop takes the object at pos out of all postings.
func (s *postings[K]) drop(pos uint32) {
	m := s.first.at(pos)
	if m.next != 0 {
		s.assignMany(pos, nil)
	} else if m.id != 0 {
		s.unlink(m)
		s.first.set(s.shape.gen, pos, member{})
	}
}

// obtain returns the number of k's posting, a new and empty one if need be.
// The caller links an object to it.
func (s *postings[K]) obtain(k K) uint32 {
	hash := hashOf(s.seed, k)
	if id := s.find(hash, k); id != 0 {
		return id
	}
	p := &posting[K]{key: k, hash: hash, gen: s.shape.gen}
	var id uint32
	if n := len(s.freeIDs); n > 0 {
		id = s.freeIDs[n-1]
		s.freeIDs = s.freeIDs[:n-1]
		s.byID.set(s.shape.gen, id, p)
	} else {
		id = s.byID.n
		s.byID.push(s.shape.gen, p)
	}
	s.keys.insert(s.shape.gen, hash, id)
	return id
}

// own returns posting id, copied first if a view may hold it.
func (s *postings[K]) own(id uint32) *posting[K] {
	p := s.byID.at(id)
	if p.gen != s.shape.gen {
		// The copy has the pages of its list in common with the original. That
		// is safe: who looks at the original's list has shared the lists as well
		// as the shape.
		c := *p
		c.gen = s.shape.gen
		p = &c
		s.byID.set(s.shape.gen, id, p)
	}
	return p
}

// link appends the object at pos to the list of posting id.
func (s *postings[K]) link(id, pos uint32) member {
	p := s.own(id)
	p.list.push(s.lists.gen, pos)
	return member{id: id, at: p.list.n - 1}
}

// unlink takes the object of which m is a member out of m's posting; the last
// object of the list takes its place. A posting that is empty then goes.
func (s *postings[K]) unlink(m member) {
	p := s.own(m.id)
	last := p.list.n - 1
	if last == 0 {
		s.keys.remove(s.shape.gen, p.hash, m.id)
		s.byID.set(s.shape.gen, m.id, nil)
		s.freeIDs = append(s.freeIDs, m.id)
		return
	}
	if m.at != last {
		moved := p.list.at(last)
		p.list.set(s.lists.gen, m.at, moved)
		s.setPlace(moved, m.id, m.at)
	}
	p.list.pop(s.lists.gen)
}

// setPlace notes that the object at pos stands at place at in posting id.
func (s *postings[K]) setPlace(pos, id, at uint32) {
	m := s.first.at(pos)
	if m.id == id {
		m.at = at
		s.first.set(s.shape.gen, pos, m)
		return
	}
	for place := m.next; place != 0; place = m.next {
		if m = s.rest.at(place); m.id == id {
			m.at = at
			s.rest.set(s.shape.gen, place, m)
			return
		}
	}
}
