package view

import (
	"slices"

	"github.com/kubetyped/informer/index"
)

// group is rows of a table, in the order of the keys of their objects.
type group struct {
	rows    []uint32
	sorted  int  // how many of rows are in order; those that follow were added
	lost    bool // some of rows are not in the group any more
	shuffle bool // some of rows are in another place now
	touched bool // noted as such in this step
}

func (g *group) add(row uint32) { g.rows = append(g.rows, row) }

// remove removes a row at once, if it is there.
func (g *group) remove(row uint32) {
	at := slices.Index(g.rows, row)
	if at < 0 {
		return
	}
	g.rows = slices.Delete(g.rows, at, at+1)
	if at < g.sorted {
		g.sorted--
	}
}

// keep removes the rows that belongs does not report true for.
func (g *group) keep(belongs func(row uint32) bool) {
	kept, sorted := g.rows[:0], 0
	for i, row := range g.rows {
		if belongs(row) {
			kept = append(kept, row)
			if i < g.sorted {
				sorted++
			}
		}
	}
	g.rows, g.sorted = kept, sorted
}

// maxInserted is the number of rows up to which they are inserted one by one.
const maxInserted = 8

// tidy brings rows into order, without those that belongs does not report true for.
func tidy[T index.Object](g *group, of *table[T], belongs func(row uint32) bool) {
	if g.lost {
		g.keep(belongs)
		g.lost = false
	}
	if g.shuffle || g.sorted < len(g.rows) {
		g.order(of.compare)
	}
	if len(g.rows) == 0 {
		g.rows = nil
	}
}

// order brings rows into order.
func (g *group) order(compare func(a, b uint32) int) {
	switch added := len(g.rows) - g.sorted; {
	case g.shuffle || g.sorted == 0:
		slices.SortFunc(g.rows, compare)
	case added > maxInserted:
		g.merge(compare)
	case added > 0:
		for at := g.sorted; at < len(g.rows); at++ {
			row := g.rows[at]
			place, _ := slices.BinarySearchFunc(g.rows[:at], row, compare)
			copy(g.rows[place+1:at+1], g.rows[place:at])
			g.rows[place] = row
		}
	}
	g.sorted, g.shuffle = len(g.rows), false
}

// merge brings rows that were added to their places, from the last one on, so that each
// of the others is moved once.
func (g *group) merge(compare func(a, b uint32) int) {
	added := slices.Clone(g.rows[g.sorted:])
	slices.SortFunc(added, compare)
	rest := g.sorted // of those that were there, how many have not been moved
	for n := len(added); n > 0; n-- {
		row := added[n-1]
		place, _ := slices.BinarySearchFunc(g.rows[:rest], row, compare)
		copy(g.rows[place+n:], g.rows[place:rest])
		g.rows[place+n-1], rest = row, place
	}
}
