package monitor

import "sync"

// Waiters follow a state, and are woken when it may have changed. The zero value is ready for
// use. The methods are safe for concurrent use, and do not wait for the waiters that they
// wake.
type Waiters struct {
	mu       sync.Mutex
	channels map[chan struct{}]struct{} // guarded by mu; each has room for one
}

// Add returns a channel that has something to receive when Wake was called since it was
// last received from, until leave is called. Leave may be called any number of times.
func (l *Waiters) Add() (woken <-chan struct{}, leave func()) {
	c := make(chan struct{}, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.channels == nil {
		l.channels = map[chan struct{}]struct{}{}
	}
	l.channels[c] = struct{}{}
	return c, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.channels, c)
	}
}

// Wake wakes all waiters that were added and have not left.
func (l *Waiters) Wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.channels {
		Wake(c)
	}
}

// Wake wakes the goroutine that receives from a channel, which has room for one. If the
// goroutine has not received since the last time, that one is enough. Wake does not wait.
func Wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// IsClosed reports whether a channel is closed, on which nothing is sent.
func IsClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
