// Package benchmarks compares this project's informers, stores and listers with
// those of client-go, side by side.
package benchmarks
