package control

import (
	"errors"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// Filter returns a handler that receives only the selected objects, as if the server had
// selected them. It calls h
//
//  1. for additions and deletions of selected objects,
//  2. with an update, if the object was selected before and still is,
//  3. with an addition, not marked initial, if an update made the object selected,
//  4. with a deletion with the reason index.OutOfScope and the last selected state, if an
//     update made the object not selected,
//  5. with a resync, an update with the same object twice, if the object is selected.
//
// The selection is a function of the object alone, and must not modify it. So h
// knows at any time which objects are selected, if Filter sees every update:
// put FilterUpdates inside of Filter, not around it.
//
// [typed.Informer.Handle] returns an error if h or the function is nil.
func Filter[T index.Object](h typed.Handler[T], selected func(obj T) bool) typed.Handler[T] {
	return &filter[T]{handler: h, selected: selected}
}

type filter[T index.Object] struct {
	handler  typed.Handler[T]
	selected func(T) bool
}

// Needs returns the fields that the handler is known to read, see typed.Needs.
func (f *filter[T]) Needs() []string { return typed.Needs(f.handler) }

func (f *filter[T]) Describe() (string, error) {
	name, err := typed.Describe(f.handler)
	if f.selected == nil {
		err = errors.Join(err, errors.New("selection function is nil"))
	}
	return name, err
}

func (f *filter[T]) OnAdd(obj T, initial bool) {
	if f.selected(obj) {
		f.handler.OnAdd(obj, initial)
	}
}

func (f *filter[T]) OnUpdate(old, updated T) {
	is := f.selected(updated)
	was := is
	if !index.Same(old, updated) {
		was = f.selected(old)
	}
	switch {
	case was && is:
		f.handler.OnUpdate(old, updated)
	case is:
		f.handler.OnAdd(updated, false)
	case was:
		f.handler.OnDelete(typed.Deleted[T]{Key: index.KeyOf(old), Object: old, Old: old, Reason: index.OutOfScope})
	}
}

// OnDelete uses the state that the handler knows: the last state may have left the selection,
// or entered it, without an update that reported it.
func (f *filter[T]) OnDelete(deleted typed.Deleted[T]) {
	if f.selected(deleted.Old) {
		f.handler.OnDelete(deleted)
	}
}
