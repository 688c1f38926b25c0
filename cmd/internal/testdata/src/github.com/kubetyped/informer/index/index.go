// Package index is a stub.
package index

import "iter"

type Range[K any] struct{ from, to *K }

type Ordered[K, T any] struct{ all map[string]T }

func (x *Ordered[K, T]) Range(r Range[K]) iter.Seq2[K, T]    { return func(func(K, T) bool) {} }
func (x *Ordered[K, T]) Backward(r Range[K]) iter.Seq2[K, T] { return func(func(K, T) bool) {} }

type Event[T any] struct{ Old, New T }

type Snapshot[T any] struct{ all []T }

func Diff[T any](before, after *Snapshot[T]) iter.Seq[Event[T]] { return func(func(Event[T]) bool) {} }
