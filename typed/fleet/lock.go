package fleet

// lock is a lock under which its holder may wait for long, as reports do until the
// informer has room. It is a channel rather than a Mutex: in a bubble of testing/synctest,
// the clock goes on while goroutines wait for it.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

// Lock implements sync.Locker.
func (l lock) Lock() { l <- struct{}{} }

// Unlock implements sync.Locker.
func (l lock) Unlock() { <-l }
