package index

import (
	"iter"
	"slices"
)

// The size of a page is a compromise: a write to a page that readers share
// copies the page (8 KiB of pointers) and the list of pages (24 bytes for
// each 1024 elements).
const (
	pageBits = 10
	pageSize = 1 << pageBits
	pageMask = pageSize - 1
)

// pages is the read side of a vector: n elements in pages of pageSize, the
// last one shorter. A copy of the struct is a view that stays as it is while
// the vector goes on changing, provided that the vector's epoch was shared
// when the copy was made.
type pages[E any] struct {
	table [][]E
	n     uint32
}

func (p *pages[E]) at(i uint32) E { return p.table[i>>pageBits][i&pageMask] }

// all ranges over the elements in order of their positions.
func (p pages[E]) all() iter.Seq[E] {
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

// collect returns the elements in a slice of its own, nil if there are none.
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
// views of it. Every write names the current generation of the epoch that the
// vector belongs to; a page of an older generation is copied first.
type vector[E any] struct {
	pages[E]
	gens     []uint64 // for each page, the generation it was made in
	tableGen uint64   // the generation the page table was made in
}

// own returns page p, copied first if a reader may hold it.
func (v *vector[E]) own(gen uint64, p uint32) []E {
	if v.gens[p] == gen {
		return v.table[p]
	}
	v.ownTable(gen)
	v.table[p] = append(make([]E, 0, cap(v.table[p])), v.table[p]...)
	v.gens[p] = gen
	return v.table[p]
}

func (v *vector[E]) ownTable(gen uint64) {
	if v.tableGen != gen {
		v.table = append(make([][]E, 0, cap(v.table)), v.table...)
		v.tableGen = gen
	}
}

func (v *vector[E]) set(gen uint64, i uint32, e E) {
	v.own(gen, i>>pageBits)[i&pageMask] = e
}

func (v *vector[E]) push(gen uint64, e E) {
	p := v.n >> pageBits
	if int(p) == len(v.table) {
		v.ownTable(gen)
		var page []E
		if p > 0 {
			page = make([]E, 0, pageSize)
		}
		v.table = append(v.table, page)
		v.gens = append(v.gens, gen)
	}
	page := v.own(gen, p)
	if len(page) == cap(page) && len(page) > pageSize/4 {
		page = slices.Grow(page, pageSize-len(page))[:len(page):pageSize] // and not beyond it
	}
	v.table[p] = append(page, e)
	v.n++
}

// pop drops the last element.
func (v *vector[E]) pop(gen uint64) {
	v.n--
	p := v.n >> pageBits
	page := v.own(gen, p)
	last := len(page) - 1
	clear(page[last:])
	v.table[p] = page[:last]
	if last == 0 {
		v.table[p] = nil
		v.table = v.table[:p]
		v.gens = v.gens[:p]
	}
}

// makeVector returns a vector of n zero elements.
func makeVector[E any](gen uint64, n uint32) vector[E] {
	v := vector[E]{tableGen: gen}
	for v.n < n {
		size := min(n-v.n, pageSize)
		v.table = append(v.table, make([]E, size))
		v.n += size
	}
	v.gens = slices.Repeat([]uint64{gen}, len(v.table))
	return v
}
