package index

// sparse reports whether most of the numbers of postings, or of the places of
// members, are unused, and there are many.
func (s *postings[K]) sparse() bool {
	return s.posts.n > pageSize && s.live < s.posts.n/4 || s.rest.n > pageSize && s.inRuns < s.rest.n/4
}

// compacted returns a fork in which no number of a posting and no place of a member
// is unused. It takes a time that is proportional to the postings and objects that
// there have been, and so no longer, by and large, than it took to remove them.
func (s *postings[K]) compacted() *postings[K] {
	f := s.fork()
	f.reset(int(s.first.n))
	f.keys = makeHashTable[struct{}, struct{}](&f.shape, int(s.live))
	numbers := make([]uint32, s.posts.n) // in the same order as before
	for id := uint32(1); id < s.posts.n; id++ {
		p := s.posts.ref(id)
		if p.list == unused {
			continue
		}
		numbers[id] = f.posts.n
		f.keys.insert(&f.shape, entry[struct{}, struct{}]{hash: p.hash, place: f.posts.n})
		f.posts.push(&f.shape, *p)
		f.live++
	}
	for m := range all(s.first.pages) {
		if !m.isRun() {
			f.first.push(&f.shape, member{id: numbers[m.id], at: m.at})
			continue
		}
		n, from := m.run()
		run := f.newRun(int(n))
		for i := range n {
			m := s.rest.at(from + i)
			f.rest.set(&f.shape, run.at+i, member{id: numbers[m.id], at: m.at})
		}
		f.first.push(&f.shape, run)
	}
	return f
}
