// Package target holds what the project set out to reach.
package target

import "slices"

// Target is for one quantity of one benchmark.
type Target struct {
	Name string // of the benchmark, as results.Series has it
	Side string // that the target is for
	Unit string
	// Peer is the side to compare with, and AtLeast how many times better than
	// that the result is to be: less time or memory, or more a second. Without a
	// peer, the result itself is to be AtMost.
	Peer            string
	AtLeast, AtMost float64

	Work     string // what the benchmark does, in words
	Headline bool   // it is in the table of docs/explanation/performance.md
	// Guarded targets are those that every change is checked against: they are
	// reached with some room and soon measured, and do not depend much on what
	// else uses the machine's memory.
	Guarded bool
}

// Room is how much of a target has to be reached when a change is checked, since
// machines differ and are noisy.
const Room = 0.8

// Reached reports whether a ratio or, for a target without a peer, a value, reaches the target.
func (t *Target) Reached(result float64) bool {
	if t.Peer == "" {
		return result <= t.AtMost
	}
	return result >= t.AtLeast
}

// Nearly is Reached with room.
func (t *Target) Nearly(ratio float64) bool { return ratio >= Room*t.AtLeast }

const (
	here              = "typed"
	clientGo          = "client-go"
	controllerRuntime = "controller-runtime"

	perOperation = "sec/op"
	allocations  = "allocs/op"
)

// All returns the targets, in the order in which the README has them.
func All() []Target {
	return slices.Concat(decoding(), informers(), dropIn(), queues(), sources(), views(), limits())
}

// Find returns the target for a quantity of a benchmark, nil if there is none.
func Find(all []Target, name, side, unit, peer string) *Target {
	for i, t := range all {
		if t.Name == name && t.Side == side && t.Unit == unit && t.Peer == peer {
			return &all[i]
		}
	}
	return nil
}
