package typed

import "time"

// Metrics is told how an informer fares. Its methods are called by the goroutine
// that changes the store, one at a time, and must return soon.
type Metrics interface {
	// SetQueued tells how many changes wait to be applied; a list counts as one.
	// It is called when a batch of them is taken up, with its size, and with what
	// has come meanwhile when it has been dealt with.
	SetQueued(changes int)
	// ObserveProcessing tells how long a batch has taken: to change the store,
	// and to pass the events on to handlers, without the handlers themselves.
	ObserveProcessing(d time.Duration)
	// SetResourceVersion tells the version that the store has come to.
	SetResourceVersion(version string)
}
