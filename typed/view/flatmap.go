package view

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubetyped/informer/index"
)

// FlatMap is all objects that a function makes of each object of a view. See [Map] for what
// functions may do. Of several that are made with one name, the one that is made of the
// first object in the order of namespaces and names is there, and of those the first one;
// the others are reported as rejected.
func FlatMap[A, B index.Object](in *View[A], project func(A) []B, opts ...Option) *View[B] {
	if project == nil {
		return failed[B]("FlatMap", errors.New("function is nil"), in.defined())
	}
	o, equal, err := gather[B](opts)
	o.name = cmp.Or(o.name, describe("FlatMap", in.defined()))
	d := define(o.name, []*definition{in.defined()}, err)
	return passOn(in, newView(d, func(p *program) *table[B] {
		f := &flattened[A, B]{in: in.start(p), project: project, checks: o.checks}
		f.program, f.equal = p, equal
		f.before = f.compareRows
		f.unique()
		f.detail = func(row uint32, e *Explanation) {
			e.noteCost(f.costs[f.from[row]])
			e.From = explainFrom(e.From, f.in, f.from[row])
		}
		f.effort.view, f.effort.metrics = d.name, o.metrics
		return addView(p, f, &f.table, d.name, &f.effort)
	}))
}

// flattened is the stage of FlatMap: any number of objects of each row of in.
type flattened[A, B index.Object] struct {
	output[B]
	in      *table[A]
	project func(A) []B
	checks  bool

	of     [][]uint32     // by row of in: its rows, in the order in which they were returned
	from   []uint32       // by row: the one of in that it was made of
	nth    []uint32       // by row: its place among those
	costs  []cost         // by row of in
	faults faults[uint32] // by row of in
	effort effort
}

// compareRows orders rows by the objects that they were made of.
func (f *flattened[A, B]) compareRows(a, b uint32) int {
	if f.from[a] != f.from[b] {
		return f.in.compare(f.from[a], f.from[b])
	}
	return cmp.Compare(f.nth[a], f.nth[b])
}

// step implements stage.
func (f *flattened[A, B]) step() {
	began := time.Now()
	last := began
	f.of = grown(f.of, len(f.in.objects))
	f.costs = grown(f.costs, len(f.in.objects))
	for i := range f.in.changes {
		c := &f.in.changes[i]
		f.because = c.reason
		if isNone(c.now) {
			f.place(c.row, nil)
			f.faults.repair(f.program, c.row)
			continue
		}
		if isRenamed(c) {
			for _, row := range f.of[c.row] {
				f.reorder(row)
			}
		}
		made, err := f.call(c.now)
		if err != nil {
			f.faults.fail(f.program, c.row, fault{key: index.KeyOf(c.now), err: fmt.Errorf("view %s: %w", f.name, err)})
			continue
		}
		f.faults.repair(f.program, c.row)
		f.place(c.row, made)
		now := time.Now()
		f.costs[c.row] = cost{at: now.Unix(), took: now.Sub(last)}
		last = now
	}
	f.effort.add(len(f.in.changes), time.Since(began))
	f.resolve()
}

func (f *flattened[A, B]) call(obj A) (made []B, err error) {
	defer recoverTo(&err)
	made = f.project(obj)
	for _, obj := range made {
		if err := named(obj); err != nil {
			return nil, err
		}
	}
	if !f.checks {
		return made, nil
	}
	if !slices.EqualFunc(made, f.project(obj), f.isSame) {
		return nil, errImpure
	}
	return made, nil
}

// place sets the objects that are made of a row of in. An object whose key was there before
// keeps its row.
func (f *flattened[A, B]) place(from uint32, made []B) {
	var none B
	before := f.of[from]
	now := make([]uint32, 0, len(made))
	kept := 0 // of before, which most often are the same in the same order
	var byKey map[index.Key]uint32
	for i, obj := range made {
		if isNone(obj) {
			continue
		}
		row, found := uint32(0), false
		if kept < len(before) && kept == i && !isNone(f.made[before[kept]]) && sameKey(f.made[before[kept]], obj) {
			row, found = before[kept], true
			kept++
		} else {
			if byKey == nil {
				byKey = make(map[index.Key]uint32, len(before))
				for _, row := range before[kept:] {
					byKey[index.KeyOf(f.made[row])] = row
				}
			}
			if row, found = byKey[index.KeyOf(obj)]; found {
				delete(byKey, index.KeyOf(obj))
			}
		}
		if !found {
			row = f.newRow()
			f.from, f.nth = grown(f.from, int(row)+1), grown(f.nth, int(row)+1)
		}
		another := f.nth[row] != uint32(len(now))
		f.from[row], f.nth[row] = from, uint32(len(now))
		now = append(now, row)
		f.make(row, obj)
		if another {
			f.reorder(row)
		}
	}
	for _, row := range before[kept:] {
		if n := int(f.nth[row]); n >= len(now) || now[n] != row {
			f.make(row, none)
			f.gone = append(f.gone, row)
		}
	}
	if len(now) == 0 {
		now = nil
	}
	f.of[from] = now
}
