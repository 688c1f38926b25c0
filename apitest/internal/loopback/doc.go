// Package loopback is a network within the process: a listener, and connections
// that are buffers in memory. All waits are for goroutines and timers, so it works
// in a bubble of testing/synctest, where what waits for a socket would stop the
// clock.
package loopback
