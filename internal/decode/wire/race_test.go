//go:build race

package wire_test

// The race detector slows what is built with it, and so only what is ours.
func init() { timed = false }
