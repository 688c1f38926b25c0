package simulation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// What may be spent on making a plan smaller, in runs; for time there is a flag.
const (
	shrinkRuns = 150
	tracedRuns = 10   // in which a smaller plan may fail again, for its trace
	tracedMost = 1000 // lines of the trace that are printed
)

// report makes a plan that has failed smaller, and fails the test with it.
func report(t *testing.T, define func(*Simulation), one outcome) {
	t.Helper()
	smallest := smallest(t, define, one)
	for runs := 1; runs <= tracedRuns; runs++ {
		next := attempt(t, define, smallest.seed, func(plan) plan { return smallest }, true)
		if next.failed.isOf(one.failed.Check) {
			t.Errorf("%s", describe(t, one, next, runs))
			return
		}
	}
	t.Errorf("simulation: %v\nIt was not so when it ran again, %d times. Look for what its outcome depends on besides the seed.\n%s",
		one.failed, tracedRuns, command(t, one.plan))
}

// smallest returns the plan of an outcome without what it does not take to fail.
func smallest(t *testing.T, define func(*Simulation), one outcome) plan {
	return shrink(one.plan, func(p plan) bool {
		next := attempt(t, define, p.seed, func(plan) plan { return p }, false)
		return next.failed.isOf(one.failed.Check)
	})
}

// lifeNumber is how the name of a check ends that a process has added.
var lifeNumber = regexp.MustCompile(`#\d+\)$`)

// isOf reports whether a check has failed, in whichever life of its process: without a crash, it
// is another one. A nil Failure is of none.
func (f *Failure) isOf(check string) bool {
	return f != nil && lifeNumber.ReplaceAllString(f.Check, "") == lifeNumber.ReplaceAllString(check, "")
}

// describe returns what to print of a failure.
func describe(t *testing.T, first, smallest outcome, runs int) string {
	var b strings.Builder
	p := smallest.plan
	fmt.Fprintf(&b, "simulation: %v\n", smallest.failed)
	fmt.Fprintf(&b, "It takes %d of %d faults, and %d of %d acts of users", len(p.faults), len(first.plan.faults), len(p.acts), len(first.plan.acts))
	if runs > 1 {
		fmt.Fprintf(&b, "; it failed in 1 of %d runs", runs)
	}
	fmt.Fprintf(&b, ". Run it again by\n\t%s\n", command(t, p))
	trace := smallest.trace
	if cut := len(trace) - tracedMost; cut > 0 {
		fmt.Fprintf(&b, "%d lines before these are left out\n", cut)
		trace = trace[cut:]
	}
	b.WriteString(strings.Join(trace, "\n"))
	return b.String()
}

// shrink leaves out the faults and acts that a plan does not need to fail: all faults, all
// acts, then halves of the rest, quarters, and so on (Zeller's ddmin).
func shrink(p plan, fails func(plan) bool) plan {
	begun, runs := time.Now(), 0
	try := func(smaller plan) bool {
		if runs++; runs > shrinkRuns || time.Since(begun) >= *shrinking {
			return false
		}
		return fails(smaller)
	}
	for size := max(len(p.faults), len(p.acts)); size > 0; size /= 2 {
		p.faults = leaveOut(p.faults, size, func(rest []fault) bool {
			smaller := p
			smaller.faults = rest
			return try(smaller)
		})
		p.acts = leaveOut(p.acts, size, func(rest []act) bool {
			smaller := p
			smaller.acts = rest
			return try(smaller)
		})
	}
	return p
}

// leaveOut returns all but those runs of so many that it can do without.
func leaveOut[E any](all []E, size int, without func([]E) bool) []E {
	for at := len(all); at > 0; at -= size {
		rest := slices.Concat(all[:max(0, at-size)], all[at:])
		if without(rest) {
			all = rest
		}
	}
	return all
}
