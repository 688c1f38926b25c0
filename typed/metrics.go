package typed

// Metrics is told how an informer fares. Its methods are called by the goroutine
// that changes the store, one at a time, and must return soon.
type Metrics interface {
	// SetQueued tells how many changes wait to be applied; a list counts as one.
	// It is called when a batch of them is taken up, with its size, and with what
	// has come meanwhile when it has been dealt with.
	SetQueued(changes int)
	// Process calls process, which applies a batch: it changes the store, and
	// passes the events on to handlers, without waiting for these. What is measured
	// is how long the call takes. If Process does not call it, the informer does;
	// calls after the first one do nothing.
	Process(changes int, process func())
	// SetResourceVersion tells the version that the store has come to.
	SetResourceVersion(version string)
}
