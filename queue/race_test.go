//go:build race

package queue

// RaceEnabled tells tests that count allocations: the race detector adds some.
const RaceEnabled = true
