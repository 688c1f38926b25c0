//go:build race

package eventlog

// raceEnabled is true under the race detector, which adds to counted allocations.
const raceEnabled = true
