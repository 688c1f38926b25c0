// Package panics has no code. Its tests plant a panic in each kind of function that users
// give to the module, with crashing switched on and off, and hold docs/reference/panics.md to that.
package panics
