//go:build race

package eventlog

// raceEnabled tells tests that count allocations: the race detector adds some.
const raceEnabled = true
