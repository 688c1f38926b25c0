// Package view is a stub.
package view

import "iter"

type Fetcher struct{}

type Lookup[K, T any] struct{ all map[string]T }

func (l *Lookup[K, T]) Fetch(f *Fetcher, key K) iter.Seq[T] { return func(func(T) bool) {} }

type LabelLookup[T any] struct{ all []T }

func (l *LabelLookup[T]) Select(f *Fetcher, namespace string) iter.Seq[T] {
	return func(func(T) bool) {}
}

type SelectorLookup[T any] struct{ all []T }

func (l *SelectorLookup[T]) Match(f *Fetcher, namespace string) iter.Seq[T] {
	return func(func(T) bool) {}
}

type View[T any] struct{ all []T }

func Map[A, B any](in *View[A], project func(A) B) *View[B] { return nil }
