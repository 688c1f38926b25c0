//go:build race

package lister_test

// raceEnabled tells tests that count allocations: the race detector adds some.
const raceEnabled = true
