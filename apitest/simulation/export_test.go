package simulation

import (
	"net/http"
	"testing"
)

// Target returns what a trace calls a request, and whether it writes.
func Target(r *http.Request) (string, bool) { return parseTarget(r).String(), parseTarget(r).writes() }

// Trace returns the trace of a seed, and how it has failed, if it has.
func Trace(t *testing.T, define func(*Simulation), seed uint64) ([]string, *Failure) {
	one := attempt(t, define, seed, nil, true)
	return one.trace, one.failed
}

// Shrink returns how many faults and acts of a seed's plan are left that fails with all of
// some faults and some acts.
func Shrink(define func(*Simulation), seed uint64, needsFaults, needsActs []int) (faults, acts []int) {
	s := &Simulation{}
	define(s)
	p := shrink(newPlan(seed, s, servers), func(p plan) bool {
		left := map[int]bool{}
		for _, f := range p.faults {
			left[f.number] = true
		}
		for _, n := range needsFaults {
			if !left[n] {
				return false
			}
		}
		clear(left)
		for _, a := range p.acts {
			left[a.number] = true
		}
		for _, n := range needsActs {
			if !left[n] {
				return false
			}
		}
		return true
	})
	for _, f := range p.faults {
		faults = append(faults, f.number)
	}
	for _, a := range p.acts {
		acts = append(acts, a.number)
	}
	return faults, acts
}
