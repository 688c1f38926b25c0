// Package queue holds the queues of a controller.
//
// A [DeltaFIFO] stands between a source of changes and the store: the source never waits for
// the work that its changes cause, and the store takes all that has come in with one swap.
//
// A [WorkQueue] stands between event handlers and the workers that reconcile: it keeps each key
// once, hands it to one worker at a time, delays and retries, and decides who comes first. It
// takes the place of client-go's workqueue.TypedRateLimitingInterface.
package queue
