package control

import (
	"errors"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// Select returns a handler for which there are only the selected objects, as if
// the server had been asked for no others. It tells h
//
//  1. of additions and deletions of objects that are selected;
//  2. of an update, if the object was selected before and still is;
//  3. of an addition, not marked initial, if an update has made an object
//     selected;
//  4. of a deletion with the reason index.ScopeRemoved, if an update has made an
//     object not selected; the deletion has the last state that was selected;
//  5. of a resync, which is an update with the same object twice, if the object
//     is selected.
//
// The selection is a function of the object alone, and must not modify it. So h
// knows at any time which objects are selected, if Select sees every update:
// put a Filter inside of Select, not around it.
//
// [typed.Informer.Handle] returns an error if h or the function is nil.
func Select[T index.Object](h typed.Handler[T], selected func(obj T) bool) typed.Handler[T] {
	return &selection[T]{handler: h, selected: selected}
}

type selection[T index.Object] struct {
	handler  typed.Handler[T]
	selected func(T) bool
}

func (s *selection[T]) Describe() (string, error) {
	name, err := typed.Describe(s.handler)
	if s.selected == nil {
		err = errors.Join(err, errors.New("the function that selects is nil"))
	}
	return name, err
}

func (s *selection[T]) OnAdd(obj T, initial bool) {
	if s.selected(obj) {
		s.handler.OnAdd(obj, initial)
	}
}

func (s *selection[T]) OnUpdate(old, updated T) {
	is := s.selected(updated)
	was := is
	if old != updated {
		was = s.selected(old)
	}
	switch {
	case was && is:
		s.handler.OnUpdate(old, updated)
	case is:
		s.handler.OnAdd(updated, false)
	case was:
		s.handler.OnDelete(typed.Deleted[T]{Key: index.KeyOf(old), Object: old, Old: old, Reason: index.ScopeRemoved})
	}
}

// OnDelete goes by the state that the handler knows: the last one may have left
// the selection, or entered it, without an update that told so.
func (s *selection[T]) OnDelete(deleted typed.Deleted[T]) {
	var none T
	known := deleted.Old
	if known == none {
		known = deleted.Object
	}
	if s.selected(known) {
		s.handler.OnDelete(deleted)
	}
}
