package monitor

// LongLock is a lock under which its holder may wait for long, as sources do until the
// informer has room. It is a channel rather than a Mutex: in a bubble of testing/synctest, the
// clock advances while goroutines wait for it. It is made by NewLongLock.
type LongLock chan struct{}

// NewLongLock returns a lock that is free.
func NewLongLock() LongLock { return make(LongLock, 1) }

// Lock implements sync.Locker.
func (l LongLock) Lock() { l <- struct{}{} }

// Unlock implements sync.Locker.
func (l LongLock) Unlock() { <-l }
