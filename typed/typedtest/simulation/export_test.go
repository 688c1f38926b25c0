package simulation

import "testing"

// Sums returns the hash of the trace of each of some runs of a seed.
func Sums(t *testing.T, define func(*Simulation), seed uint64, runs int) (sums []uint64, traces [][]string) {
	for range runs {
		one := attempt(t, define, seed, nil, true)
		sums = append(sums, one.sum)
		traces = append(traces, one.trace)
	}
	return sums, traces
}
