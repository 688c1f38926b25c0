package typed

// Metrics is told how an informer fares. Its methods are called by the goroutine
// that changes the store, and must return soon. SetResourceVersion is also called
// while Process runs, by the function that Process calls, so no lock may be held around
// that. Several informers that are given the same Metrics call it at the same time; see
// WithMetricsFor for metrics of each.
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
