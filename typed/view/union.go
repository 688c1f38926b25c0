package view

import (
	"cmp"
	"errors"

	"github.com/kubetyped/informer/index"
)

// Union is the objects of several views. If several views have an object of the same name, the
// first view in the list wins. This is not an error.
func Union[T index.Object](in ...*View[T]) *View[T] {
	inputs := make([]*definition, len(in))
	for i, v := range in {
		inputs[i] = v.defined()
	}
	var err error
	if len(in) == 0 {
		err = errors.New("no view to unite")
	}
	d := define(describe("Union", inputs...), inputs, err)
	v := newView(d, func(p *program) *table[T] {
		u := &united[T]{rows: make([][]uint32, len(in))}
		for _, v := range in {
			u.in = append(u.in, v.start(p))
		}
		u.program, u.overlap = p, true
		u.before = func(a, b uint32) int { return cmp.Compare(u.from[a], u.from[b]) }
		u.unique()
		u.detail = func(row uint32, e *Explanation) { e.From = explainFrom(e.From, u.in[u.from[row]], u.row[row]) }
		return addView(p, u, &u.table, d.name, nil)
	})
	for _, one := range in {
		passOn(one, v)
	}
	return v
}

// united is the stage of Union.
type united[T index.Object] struct {
	output[T]
	in   []*table[T]
	rows [][]uint32 // by input, by row of it: its row here
	from []uint32   // by row: the number of its input
	row  []uint32   // by row: the one of its input
}

// step implements stage.
func (u *united[T]) step() {
	for i, in := range u.in {
		u.rows[i] = grown(u.rows[i], len(in.objects))
		for _, c := range in.changes {
			row := u.rows[i][c.row]
			if isNone(c.old) {
				row = u.newRow()
				u.from, u.row = grown(u.from, int(row)+1), grown(u.row, int(row)+1)
				u.rows[i][c.row], u.from[row], u.row[row] = row, uint32(i), c.row
			}
			u.because = c.reason
			u.make(row, c.now)
			if isNone(c.now) {
				u.gone = append(u.gone, row)
			}
		}
	}
	u.resolve()
}
