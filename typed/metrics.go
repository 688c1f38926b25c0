package typed

// Metrics receives the metrics of an informer. Its methods are called by the goroutine that
// changes the store, and must return soon. SetResourceVersion is also called while Process
// runs, by the function that Process calls, so no lock may be held around that. Several
// informers that are given the same Metrics call it at the same time; see WithMetricsFor for
// metrics of each.
type Metrics interface {
	// SetQueued reports how many changes wait to be applied; a list counts as one. It is
	// called with the size of a batch when its processing begins, and with the number of new
	// changes when it ends.
	SetQueued(changes int)
	// Process calls process, which applies a batch: it changes the store, and passes the
	// events on to handlers, without waiting for these. Measure the time of the call. If
	// Process does not call it, the informer does; calls after the first one do nothing.
	Process(changes int, process func())
	// SetResourceVersion reports the version that the store has reached.
	SetResourceVersion(version string)
}
