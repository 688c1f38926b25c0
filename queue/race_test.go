//go:build race

package queue_test

// raceEnabled tells tests that count allocations: the race detector adds some.
const raceEnabled = true
