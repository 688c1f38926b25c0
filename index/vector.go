package index

import (
	"iter"
	"slices"
)

// The size of a page is a compromise: a write to a page that readers share
// copies the page (8 KiB of pointers) and the list of pages (32 bytes for
// each 1024 elements).
const (
	pageBits = 10
	pageSize = 1 << pageBits
	pageMask = pageSize - 1
)

// pages is the read side of a vector: n elements in pages of pageSize, the last one shorter. A
// copy of the struct is a view that stays as it is while the vector changes, provided that the
// vector's epoch was shared when the copy was made.
type pages[E any] struct {
	table [][]E
	n     uint32
}

func (p *pages[E]) at(i uint32) E { return p.table[i>>pageBits][i&pageMask] }

// ref returns a pointer to element i, to be read.
func (p *pages[E]) ref(i uint32) *E { return &p.table[i>>pageBits][i&pageMask] }

// all ranges over the elements of p in order of their positions. As a method of pages, it would
// be one of each vector, too, and be compiled again for each.
func all[E any](p pages[E]) iter.Seq[E] {
	return func(yield func(E) bool) {
		for _, page := range p.table {
			for _, e := range page {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// chunks ranges over the pages of p. They have no room for more, so that who appends to
// one does not write to it.
func chunks[E any](p pages[E]) iter.Seq[[]E] {
	return func(yield func([]E) bool) {
		for _, page := range p.table {
			if !yield(slices.Clip(page)) {
				return
			}
		}
	}
}

// collect returns the elements in a new slice, nil if there are none.
func (p *pages[E]) collect() []E {
	if p.n == 0 {
		return nil
	}
	list := make([]E, 0, p.n)
	for _, page := range p.table {
		list = append(list, page...)
	}
	return list
}

// vector is a dense list that one writer changes in place while readers hold
// views of it. Every write names the epoch that the vector belongs to; a page of an
// older generation is copied first. A copy of the struct is a fork, if it is written
// to in a later generation.
type vector[E any] struct {
	pages[E]
	gens     []uint64 // for each page, the generation it was made in
	tableGen uint64   // the generation that table and gens were made in
}

// own returns page p, copied first if a reader may hold it.
func (v *vector[E]) own(e *epoch, p uint32) []E {
	if v.gens[p] == e.gen {
		return v.table[p]
	}
	v.ownTable(e)
	v.table[p] = append(make([]E, 0, cap(v.table[p])), v.table[p]...)
	v.gens[p] = e.gen
	e.moved += uint64(len(v.table[p]))
	return v.table[p]
}

// owned reports whether a write to element i copies nothing.
func (v *vector[E]) owned(e *epoch, i uint32) bool { return v.gens[i>>pageBits] == e.gen }

func (v *vector[E]) ownTable(e *epoch) {
	if v.tableGen != e.gen {
		v.table = append(make([][]E, 0, cap(v.table)), v.table...)
		v.gens = append(make([]uint64, 0, cap(v.gens)), v.gens...)
		v.tableGen = e.gen
		e.moved += uint64(len(v.table))
	}
}

func (v *vector[E]) set(e *epoch, i uint32, elem E) { *v.change(e, i) = elem }

// change returns a pointer to element i, to be written to at once.
func (v *vector[E]) change(e *epoch, i uint32) *E { return &v.own(e, i>>pageBits)[i&pageMask] }

func (v *vector[E]) push(e *epoch, elem E) {
	p := v.n >> pageBits
	if int(p) == len(v.table) {
		v.ownTable(e)
		var page []E
		if p > 0 {
			page = make([]E, 0, pageSize)
		}
		v.table = append(v.table, page)
		v.gens = append(v.gens, e.gen)
	}
	page := v.own(e, p)
	if len(page) == cap(page) && len(page) > pageSize/4 {
		page = slices.Grow(page, pageSize-len(page))[:len(page):pageSize] // and not beyond it
	}
	v.table[p] = append(page, elem)
	v.n++
}

// pop drops the last element, and shrinks a page or table that has become much too large.
func (v *vector[E]) pop(e *epoch) {
	v.n--
	p := v.n >> pageBits
	page := v.own(e, p)
	last := len(page) - 1
	clear(page[last:])
	switch {
	case last == 0:
		v.table[p] = nil
		v.table, v.gens = v.table[:p], v.gens[:p]
		if cap(v.table) > 16+4*len(v.table) {
			v.table, v.gens = slices.Clone(v.table), slices.Clone(v.gens)
			e.moved += uint64(p)
		}
	case cap(page) > 16+4*last:
		v.table[p] = append(make([]E, 0, 2*last), page[:last]...)
		e.moved += uint64(last)
	default:
		v.table[p] = page[:last]
	}
}

// roomFor returns an empty vector with room for n elements in its list of pages and in
// the first of them.
func roomFor[E any](e *epoch, n int) vector[E] {
	if n == 0 {
		return vector[E]{}
	}
	if n <= smallVector {
		return makeSmall[E](e, 0)
	}
	count := (n + pageSize - 1) >> pageBits
	v := vector[E]{tableGen: e.gen, gens: make([]uint64, 1, count)}
	v.table = make([][]E, 1, count)
	v.table[0], v.gens[0] = make([]E, 0, min(n, pageSize)), e.gen
	return v
}

// smallVector is the number of elements that a small vector has room for.
const smallVector = 4

// makeSmall returns a vector of up to smallVector elements, which are zero, in one piece
// of memory.
func makeSmall[E any](e *epoch, n uint32) vector[E] {
	made := &struct {
		table [1][]E
		gens  [1]uint64
		page  [smallVector]E
	}{gens: [1]uint64{e.gen}}
	made.table[0] = made.page[:n]
	return vector[E]{pages: pages[E]{table: made.table[:], n: n}, gens: made.gens[:], tableGen: e.gen}
}
