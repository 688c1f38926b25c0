//go:build race

package lister_test

// raceEnabled is true under the race detector, which adds to counted allocations.
const raceEnabled = true
