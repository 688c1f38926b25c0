package source

import "context"

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
