package view

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubetyped/informer/index"
)

// Fold is how [Reduce] keeps a state S of many objects at the cost of those that change.
type Fold[T, S any] struct {
	// Add adds an object to the state, which was the zero S before the first one.
	Add func(state *S, obj T)
	// Remove takes back an Add of that very object. The object must not have been modified
	// since; the result must not depend on the order of the calls.
	Remove func(state *S, obj T)
}

// Reduce is what a function makes of a state of the objects that have a key in common,
// such as their number or a sum, for each key that there is. A change of one object costs a
// call of Remove and of Add, whatever the number of objects. The result is called with the
// state, which it must neither modify nor keep parts of (so it copies a resource.Quantity
// by DeepCopy), and the number of objects; it returns false if nothing is made of them.
//
// An object for which Add panics is reported as rejected, and is left out of the state and of
// the number until it changes. The state of its key is then computed again from all others; so
// it is if Remove panics. [WithChecks] computes each state again, and compares the results.
func Reduce[T index.Object, K comparable, S any, Out index.Object](
	in *View[T], keys Keys[K, T], fold Fold[T, S], result func(key K, state *S, n int) (Out, bool), opts ...Option,
) *View[Out] {
	lookup := By(in, keys, checksOf[Out](opts)...)
	keys = lookup.keys
	switch {
	case fold.Add == nil:
		return failed[Out]("Reduce", errors.New("Fold.Add is nil"), in.defined())
	case fold.Remove == nil:
		return failed[Out]("Reduce", errors.New("Fold.Remove is nil"), in.defined())
	case result == nil:
		return failed[Out]("Reduce", errors.New("result function is nil"), in.defined())
	}
	o, equal, err := gather[Out](opts)
	o.name = cmp.Or(o.name, describe("Reduce", in.defined()))
	d := define(o.name, []*definition{lookup.definition}, err)
	return newView(d, func(p *program) *table[Out] {
		r := &reduced[T, K, S, Out]{in: in.start(p), keys: keys, byKey: map[K]uint32{}, fold: fold, result: result, checks: o.checks}
		r.program, r.equal = p, equal
		r.before = func(a, b uint32) int { return compareInWords(r.states[a].key, r.states[b].key) }
		r.unique()
		r.detail = r.explain
		r.effort.view, r.effort.metrics = d.name, o.metrics
		return addView(p, r, &r.table, d.name, &r.effort)
	})
}

// reduced is the stage of Reduce: an object at most of each state, at its number.
type reduced[T index.Object, K comparable, S any, Out index.Object] struct {
	output[Out]
	in     *table[T]
	keys   Keys[K, T]
	fold   Fold[T, S]
	result func(K, *S, int) (Out, bool)
	checks bool

	states  []reduction[K, S]
	byKey   map[K]uint32
	of      []rowSet // by row of in: the states that it belongs to
	touched []uint32
	scratch []uint32
	why     causes[uint32] // by state
	effort  effort

	keyless faults[uint32] // by row of in: no key is known
	leftOut faults[member] // the object is not in the state
	useless faults[uint32] // by state: no result
}

// member is a row of the input in a state.
type member struct{ row, state uint32 }

// reduction is the state of one key.
type reduction[K comparable, S any] struct {
	key     K
	state   S
	n       int // objects that were added
	members int // and those that were left out
	touched bool
	broken  bool // the state is to be computed again
}

// step implements stage.
func (r *reduced[T, K, S, Out]) step() {
	began := time.Now()
	r.of = grown(r.of, len(r.in.objects))
	for i := range r.in.changes {
		r.move(&r.in.changes[i])
	}
	r.repair()
	for _, at := range r.touched {
		r.because = r.why.of(at)
		r.conclude(at)
		s := &r.states[at]
		s.touched = false
		if s.members == 0 {
			delete(r.byKey, s.key)
			*s = reduction[K, S]{}
			r.gone = append(r.gone, at)
		}
	}
	r.effort.add(len(r.in.changes), time.Since(began))
	r.touched = kept(r.touched)
	r.why.forget()
	r.resolve()
}

// move takes a row out of the states that it was in, and adds it to those that it is in
// now.
func (r *reduced[T, K, S, Out]) move(c *change[T]) {
	now := r.scratch[:0]
	var err error
	if !isNone(c.now) {
		now, err = r.statesFor(now, c.now)
	}
	if err != nil {
		r.keyless.fail(r.program, c.row, fault{key: index.KeyOf(c.now), err: fmt.Errorf("view %s: %w", r.name, err)})
		now = now[:0]
		r.of[c.row].each(func(at uint32) { now = append(now, at) })
	} else {
		r.keyless.repair(r.program, c.row)
	}
	r.scratch = now
	of := &r.of[c.row]
	of.each(func(at uint32) {
		r.touch(at, c.reason)
		r.takeOut(at, c.row, c.old)
		if !slices.Contains(now, at) {
			of.remove(at)
		}
	})
	for _, at := range now {
		r.touch(at, c.reason)
		s := &r.states[at]
		s.n++
		s.members++
		s.broken = s.broken || r.apply(&s.state, c.now, r.fold.Add) != nil
		if !of.has(at) {
			of.add(at)
		}
	}
}

// takeOut takes the object of a row out of a state. One that was left out of it was not in it.
func (r *reduced[T, K, S, Out]) takeOut(at, row uint32, obj T) {
	s := &r.states[at]
	s.members--
	if in := (member{row, at}); r.leftOut.has(in) {
		r.leftOut.repair(r.program, in)
		return
	}
	s.n--
	s.broken = s.broken || r.apply(&s.state, obj, r.fold.Remove) != nil
}

// statesFor appends the states that an object belongs to.
func (r *reduced[T, K, S, Out]) statesFor(dst []uint32, obj T) (_ []uint32, err error) {
	defer recoverTo(&err)
	r.keys.all(obj, func(key K) {
		at, ok := r.byKey[key]
		if !ok {
			at = r.newRow()
			r.states = grown(r.states, int(at)+1)
			r.states[at].key = key
			r.byKey[key] = at
			r.touch(at, 0)
		}
		if !slices.Contains(dst, at) {
			dst = append(dst, at)
		}
	})
	return dst, nil
}

func (r *reduced[T, K, S, Out]) touch(at uint32, reason index.Reason) {
	r.why.note(at, reason)
	if s := &r.states[at]; !s.touched {
		s.touched = true
		r.touched = append(r.touched, at)
	}
}

// apply adds an object to a state, or removes it. After an error, the state is of no use.
func (r *reduced[T, K, S, Out]) apply(state *S, obj T, f func(*S, T)) (err error) {
	defer recoverTo(&err)
	f(state, obj)
	return nil
}

// conclude calls the function that makes the result.
func (r *reduced[T, K, S, Out]) conclude(at uint32) {
	s := &r.states[at]
	var made Out
	var err error
	if s.n > 0 {
		made, err = r.call(s.key, &s.state, s.n)
		if err == nil && r.checks {
			err = r.check(at, made)
		}
	}
	if err != nil {
		r.useless.fail(r.program, at, fault{key: index.Key{Name: fmt.Sprint(s.key)}, err: fmt.Errorf("view %s: %w", r.name, err)})
		return
	}
	r.useless.repair(r.program, at)
	r.make(at, made)
}

func (r *reduced[T, K, S, Out]) call(key K, state *S, n int) (made Out, err error) {
	defer recoverTo(&err)
	return accepted(r.result(key, state, n))
}

// rowsOf returns the rows of in that are in a state.
func (r *reduced[T, K, S, Out]) rowsOf(at uint32) (rows []uint32) {
	for row := range r.of {
		if r.of[row].has(at) && !r.leftOut.has(member{uint32(row), at}) {
			rows = append(rows, uint32(row))
		}
	}
	return rows
}

// explain adds which objects a state is made of.
func (r *reduced[T, K, S, Out]) explain(at uint32, e *Explanation) {
	rows := r.rowsOf(at)
	slices.SortFunc(rows, r.in.compare)
	e.Fetched = []Fetched{{From: r.in.name, Key: fmt.Sprint(r.states[at].key), Objects: r.in.keysOf(rows)}}
}
