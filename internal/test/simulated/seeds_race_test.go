//go:build race

package simulated_test

// seeds is how many seeds each suite runs unless a flag says otherwise; the race detector
// makes them slow.
const seeds = "3"
