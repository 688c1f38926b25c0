//go:build race

package queue

// RaceEnabled is true under the race detector, which adds to counted allocations.
const RaceEnabled = true
