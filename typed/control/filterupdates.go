package control

import (
	"errors"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// FilterUpdates returns a handler that passes on what h is to be notified of:
//
//  1. Additions and deletions: all of them. typed.HandlerFuncs leaves calls out,
//     for example deletions: typed.HandlerFuncs[T]{AddFunc: h.OnAdd, UpdateFunc: h.OnUpdate}.
//  2. Updates: those for which every predicate holds.
//  3. Updates that put an object of another UID instead of the old one: all of them, as they
//     stand for a deletion and an addition.
//  4. Resyncs: they are updates with the same object twice, of which predicates
//     are asked as of any other. GenerationChanged, LabelsChanged,
//     AnnotationsChanged and ResourceVersionChanged leave them out; see Resynced.
//
// With the policy [typed.Coalesce], what predicates compare is the state that was last
// passed to the returned handler and the latest one.
//
// A handler that has to see every update to be right, as Filter, belongs around
// FilterUpdates and not inside of it. [typed.Informer.Handle] returns an error if h or a
// predicate is nil. And, Or and Not are nil if one of theirs is.
func FilterUpdates[T index.Object](h typed.Handler[T], predicates ...Predicate[T]) typed.Handler[T] {
	return &filterUpdates[T]{Handler: h, matters: And(predicates...)}
}

type filterUpdates[T index.Object] struct {
	typed.Handler[T]
	matters Predicate[T] // nil if one of those that it is made of is
}

// Needs returns the fields that the handler is known to read, see typed.Needs.
func (f *filterUpdates[T]) Needs() []string { return typed.Needs(f.Handler) }

func (f *filterUpdates[T]) Describe() (string, error) {
	name, err := typed.Describe(f.Handler)
	if f.matters == nil {
		err = errors.Join(err, errNilPredicate)
	}
	return name, err
}

func (f *filterUpdates[T]) OnUpdate(old, updated T) {
	if !index.Same(old, updated) && recreated(old, updated) || f.matters(old, updated) {
		f.Handler.OnUpdate(old, updated)
	}
}
