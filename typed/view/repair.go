package view

import (
	"errors"
	"fmt"

	"github.com/kubetyped/informer/index"
)

// repair computes states again that a panic has left half-done, without the objects for which
// Add panics.
func (r *reduced[T, K, S, Out]) repair() {
	rows := map[uint32][]uint32(nil) // by state
	for _, at := range r.touched {
		if r.states[at].broken {
			if rows == nil {
				rows = map[uint32][]uint32{}
			}
			rows[at] = nil
		}
	}
	if rows == nil {
		return
	}
	for row := range r.of {
		r.of[row].each(func(at uint32) {
			if r.states[at].broken {
				rows[at] = append(rows[at], uint32(row))
			}
		})
	}
	for at, members := range rows {
		r.rebuild(at, members)
	}
}

// rebuild computes a state again from its rows. When Add has panicked, each row is tried by
// itself, so that many bad rows do not restart the computation as many times.
func (r *reduced[T, K, S, Out]) rebuild(at uint32, rows []uint32) {
	s := &r.states[at]
	for n := 0; ; n++ {
		state, added, bad, err := r.addAll(at, rows)
		if err == nil {
			s.state, s.n, s.broken = state, added, false
			return
		}
		r.omit(bad, at, err)
		for _, row := range rows {
			if n > 0 || r.leftOut.has(member{row, at}) {
				continue
			}
			var alone S
			if err := r.apply(&alone, r.in.objects[row], r.fold.Add); err != nil {
				r.omit(row, at, err)
			}
		}
	}
}

// addAll adds the objects of rows to an empty state, except those that are left out. If Add
// panics, it returns the row that is to be left out next, and the error.
func (r *reduced[T, K, S, Out]) addAll(at uint32, rows []uint32) (state S, added int, bad uint32, err error) {
	for _, row := range rows {
		if r.leftOut.has(member{row, at}) {
			continue
		}
		if err := r.apply(&state, r.in.objects[row], r.fold.Add); err != nil {
			return state, 0, row, err
		}
		added++
	}
	return state, added, 0, nil
}

// omit leaves a row out of a state.
func (r *reduced[T, K, S, Out]) omit(row, at uint32, err error) {
	r.leftOut.fail(r.program, member{row, at}, fault{key: index.KeyOf(r.in.objects[row]), err: fmt.Errorf("view %s: %w", r.name, err)})
}

// check reports what WithChecks finds: the result is another one the second time, or after the
// objects that are there were added to an empty state.
func (r *reduced[T, K, S, Out]) check(at uint32, made Out) error {
	s := &r.states[at]
	again, err := r.call(s.key, &s.state, s.n)
	if err == nil && !r.isSame(made, again) {
		err = errImpure
	}
	if err != nil {
		return err
	}
	state, n, _, err := r.addAll(at, r.rowsOf(at))
	if err == nil {
		again, err = r.call(s.key, &state, n)
	}
	if err == nil && !r.isSame(made, again) {
		err = errors.New("the result is another one if the objects are added to an empty state: " +
			"Remove does not take back what Add has done, or their order matters")
	}
	return err
}
