// Package queue holds the queues of a controller.
//
// A [DeltaFIFO] stands between a source of changes and the store: the source
// never waits for the work that its changes cause, and the store takes
// everything that has come in with one swap.
package queue
