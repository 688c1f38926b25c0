package source

// waitingLock is a lock under which its holder may wait for long, as namespaces do until
// the informer has room. It is a channel rather than a Mutex: in a bubble of
// testing/synctest, the clock goes on while goroutines wait for it.
type waitingLock chan struct{}

func newWaitingLock() waitingLock { return make(waitingLock, 1) }

// Lock implements sync.Locker.
func (l waitingLock) Lock() { l <- struct{}{} }

// Unlock implements sync.Locker.
func (l waitingLock) Unlock() { <-l }
