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
	// Remove takes back an Add of that very object. What was added must not have been
	// modified; the result must not depend on the order of the calls.
	Remove func(state *S, obj T)
}

// Reduce is what a function makes of a state of the objects that have a key in common,
// such as their number or a sum, for each key that there is. A change of one object costs a
// call of Remove and of Add, whatever the number of objects. The result is called with the
// state, which it must neither modify nor keep parts of (so it copies a resource.Quantity
// by DeepCopy), and the number of objects; it returns false if nothing is made of them.
//
// If a call of Add or Remove panics, the object is reported as rejected, and is left out.
// The state of its keys is then computed anew from all of their objects whenever one
// changes, as long as a call panics.
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
		return failed[Out]("Reduce", errors.New("the function that makes the result is nil"), in.defined())
	}
	o, equal, err := gather[Out](opts)
	o.name = cmp.Or(o.name, describe("Reduce", in.defined()))
	d := define(o.name, []*definition{lookup.definition}, err)
	return newView(d, func(p *program) *table[Out] {
		r := &reduced[T, K, S, Out]{in: in.start(p), keys: keys, byKey: map[K]uint32{}, fold: fold, result: result}
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

	states  []reduction[K, S]
	byKey   map[K]uint32
	of      []rowSet // by row of in: the states that it was added to
	touched []uint32
	scratch []uint32
	effort  effort
}

// reduction is the state of one key.
type reduction[K comparable, S any] struct {
	key     K
	state   S
	n       int
	touched bool
	broken  bool // the state is to be computed anew
}

// step implements stage.
func (r *reduced[T, K, S, Out]) step() {
	began := time.Now()
	for len(r.of) < len(r.in.objects) {
		r.of = append(r.of, rowSet{})
	}
	for i := range r.in.changes {
		r.move(&r.in.changes[i])
	}
	r.mend()
	for _, at := range r.touched {
		r.make(at, r.conclude(at))
		s := &r.states[at]
		s.touched = false
		if s.n == 0 {
			delete(r.byKey, s.key)
			*s = reduction[K, S]{}
			r.gone = append(r.gone, at)
		}
	}
	r.effort.add(len(r.in.changes), time.Since(began))
	r.touched = kept(r.touched)
	r.resolve()
}

// move takes a row out of the states that it was in, and adds it to those that it is in
// now.
func (r *reduced[T, K, S, Out]) move(c *change[T]) {
	var none T
	now := r.scratch[:0]
	if c.now != none {
		var err error
		if now, err = r.statesFor(now, c.now); err != nil {
			r.program.failKey(r.name, index.KeyOf(c.now), fmt.Errorf("view %s: %w", r.name, err))
			now = now[:0]
			r.of[c.row].each(func(at uint32) { now = append(now, at) })
		} else if r.program.failing {
			r.program.repairKey(r.name, index.KeyOf(c.now))
		}
	} else if r.program.failing {
		r.program.repairKey(r.name, index.KeyOf(c.old))
	}
	r.scratch = now
	of := &r.of[c.row]
	of.each(func(at uint32) {
		r.apply(at, c.old, r.fold.Remove)
		r.states[at].n--
		if !contains(now, at) {
			of.remove(at)
		}
	})
	for _, at := range now {
		r.apply(at, c.now, r.fold.Add)
		r.states[at].n++
		if !of.has(at) {
			of.add(at)
		}
	}
}

// statesFor appends the states that an object belongs to.
func (r *reduced[T, K, S, Out]) statesFor(dst []uint32, obj T) (_ []uint32, err error) {
	defer recoverTo(&err)
	r.keys.all(obj, func(key K) {
		at, ok := r.byKey[key]
		if !ok {
			at = r.newRow()
			for int(at) >= len(r.states) {
				r.states = append(r.states, reduction[K, S]{})
			}
			r.states[at].key = key
			r.byKey[key] = at
			r.touch(at)
		}
		if !contains(dst, at) {
			dst = append(dst, at)
		}
	})
	return dst, nil
}

func (r *reduced[T, K, S, Out]) touch(at uint32) {
	if s := &r.states[at]; !s.touched {
		s.touched = true
		r.touched = append(r.touched, at)
	}
}

// apply adds an object to a state, or removes it.
func (r *reduced[T, K, S, Out]) apply(at uint32, obj T, f func(*S, T)) {
	r.touch(at)
	s := &r.states[at]
	var err error
	func() {
		defer recoverTo(&err)
		f(&s.state, obj)
	}()
	if err != nil {
		s.broken = true
		r.program.failKey(r.name, index.KeyOf(obj), fmt.Errorf("view %s: %w", r.name, err))
	}
}

// mend computes states anew that a panic has left half-done.
func (r *reduced[T, K, S, Out]) mend() {
	var none T
	for _, at := range r.touched {
		s := &r.states[at]
		if !s.broken {
			continue
		}
		var empty S
		s.state, s.broken = empty, false
		for row := range r.of {
			if obj := r.in.objects[row]; obj != none && r.of[row].has(at) {
				r.apply(at, obj, r.fold.Add)
			}
		}
	}
}

// conclude calls the function that makes the result.
func (r *reduced[T, K, S, Out]) conclude(at uint32) (made Out) {
	s := &r.states[at]
	key := index.Key{Name: fmt.Sprint(s.key)}
	if s.n == 0 {
		if r.program.failing {
			r.program.repairKey(r.name+", result", key)
		}
		return made
	}
	var err error
	func() {
		defer recoverTo(&err)
		var ok bool
		if made, ok = r.result(s.key, &s.state, s.n); !ok {
			var none Out
			made = none
		}
		err = named(made)
	}()
	if err != nil {
		r.program.failKey(r.name+", result", key, fmt.Errorf("view %s: %w", r.name, err))
		return r.has(at)
	}
	if r.program.failing {
		r.program.repairKey(r.name+", result", key)
	}
	return made
}

// explain adds which objects a state is made of.
func (r *reduced[T, K, S, Out]) explain(at uint32, e *Explanation) {
	var rows []uint32
	for row := range r.of {
		if r.of[row].has(at) {
			rows = append(rows, uint32(row))
		}
	}
	slices.SortFunc(rows, r.in.compare)
	e.Fetched = []Fetched{{From: r.in.name, Key: fmt.Sprint(r.states[at].key), Objects: r.in.keysOf(rows)}}
}
