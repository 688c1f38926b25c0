//go:build !race

package simulated_test

// seeds is how many seeds each suite runs unless a flag says otherwise, as make simulate
// does.
const seeds = "5"
