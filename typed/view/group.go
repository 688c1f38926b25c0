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

// maxInserted is the number of rows up to which they are inserted one by one.
const maxInserted = 8

// tidy brings rows into order, without those that belongs does not report true for.
func tidy[T index.Object](g *group, of *table[T], belongs func(row uint32) bool) {
	if g.lost {
		kept, sorted := g.rows[:0], 0
		for i, row := range g.rows {
			if belongs(row) {
				kept = append(kept, row)
				if i < g.sorted {
					sorted++
				}
			}
		}
		g.rows, g.sorted, g.lost = kept, sorted, false
	}
	added := len(g.rows) - g.sorted
	switch {
	case g.shuffle || added > maxInserted:
		slices.SortFunc(g.rows, of.compare)
	case added > 0:
		for at := g.sorted; at < len(g.rows); at++ {
			row := g.rows[at]
			place, _ := slices.BinarySearchFunc(g.rows[:at], row, of.compare)
			copy(g.rows[place+1:at+1], g.rows[place:at])
			g.rows[place] = row
		}
	}
	g.sorted, g.shuffle = len(g.rows), false
	if len(g.rows) == 0 {
		g.rows = nil
	}
}
