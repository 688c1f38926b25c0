// Package lock has a lock under which its holder may wait for long, as sources do until
// the informer has room.
package lock

// Lock is a lock. It is a channel rather than a Mutex: in a bubble of testing/synctest, the
// clock goes on while goroutines wait for it. It is made by New.
type Lock chan struct{}

// New returns a lock.
func New() Lock { return make(Lock, 1) }

// Lock implements sync.Locker.
func (l Lock) Lock() { l <- struct{}{} }

// Unlock implements sync.Locker.
func (l Lock) Unlock() { <-l }
