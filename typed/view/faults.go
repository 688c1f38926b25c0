package view

import (
	"slices"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// faults are the rows or groups that a stage cannot use, or compute, now, by number. Each is
// reported as rejected, by the key that it had when it failed, until the stage can use it or it
// is gone. The zero faults is empty.
type faults[N comparable] struct {
	byNumber map[N]*fault
}

// fault is one of them.
type fault struct {
	key   index.Key
	err   error
	names bool // several objects are made with one name, of which one is there
}

// has reports whether there is a fault of a number.
func (f *faults[N]) has(number N) bool { return len(f.byNumber) > 0 && f.byNumber[number] != nil }

// fail notes and reports a fault, instead of the one that there was.
func (f *faults[N]) fail(p *program, number N, one fault) {
	if before := f.byNumber[number]; before != nil && before.key != one.key {
		p.repair(before)
		delete(f.byNumber, number)
	}
	known := f.byNumber[number]
	if known == nil {
		if f.byNumber == nil {
			f.byNumber = map[N]*fault{}
		}
		known = &one
		f.byNumber[number] = known
		p.faults[one.key] = append(p.faults[one.key], known)
		if one.names {
			p.twice++
		}
		p.failing++
	}
	known.err = one.err
	if all := p.faults[one.key]; all[len(all)-1] != known {
		at := slices.Index(all, known)
		p.faults[one.key] = append(slices.Delete(all, at, at+1), known)
	}
	p.reject(known)
}

// repair takes a fault back, if there is one.
func (f *faults[N]) repair(p *program, number N) {
	if len(f.byNumber) == 0 {
		return
	}
	if known := f.byNumber[number]; known != nil {
		delete(f.byNumber, number)
		p.repair(known)
	}
}

// repair takes back what was reported of a fault. What else there is of its key is reported
// again, since it was hidden by that.
func (p *program) repair(one *fault) {
	p.failing--
	if one.names {
		p.twice--
	}
	left := p.faults[one.key]
	at := slices.Index(left, one)
	last := at == len(left)-1
	left = slices.Delete(left, at, at+1)
	if len(left) == 0 {
		delete(p.faults, one.key)
		p.report(&source.RejectedError{Key: one.key, Stands: true})
		return
	}
	p.faults[one.key] = left
	if last {
		p.reject(left[len(left)-1])
	}
}

// reject reports a fault.
func (p *program) reject(one *fault) {
	p.report(&source.RejectedError{Key: one.key, Stands: true, Err: one.err})
}
