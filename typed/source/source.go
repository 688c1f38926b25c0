package source

import (
	"context"

	"github.com/kubetyped/informer/index"
)

// Source is where an informer's objects come from: a list and watch of an API
// server, another informer, or the events of a test.
type Source[T index.Object] interface {
	// Run reports every change to sink until ctx ends, and then returns nil. The
	// first report is a Replace by a list of everything; that is when the informer
	// counts as synced.
	//
	// The source retries recoverable failures, and reports them to the sink. An error that
	// Run returns is final, and ends the informer. A source without further reports may
	// return nil before ctx ends; the informer then keeps its state.
	//
	// Run waits for the goroutines that it has started. It is called once.
	Run(ctx context.Context, sink Sink[T]) error
}

// floorKey is the key of what WithFloor adds to a context.
type floorKey struct{}

// WithFloor returns a context for Source.Run, by which a source asks for a first list that is
// not older than a version: what the function returns when it asks, "" for any. Versions have
// to be those of one resource. Sources of package kube do so.
func WithFloor(ctx context.Context, floor func() string) context.Context {
	return context.WithValue(ctx, floorKey{}, floor)
}

// FloorOf returns the version that a first list must not be older than, "" if it may be any.
func FloorOf(ctx context.Context) string {
	if floor, ok := ctx.Value(floorKey{}).(func() string); ok {
		return floor()
	}
	return ""
}
