package typed

import (
	"errors"
	"fmt"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
)

// Event is one change of the store, with the state before and after it.
type Event[T index.Object] = index.Event[T]

// Handler receives every change of the store:
//
//  1. Calls for one handler follow one another, from one goroutine, in the
//     order in which the store changed. Handlers do not wait for each other.
//  2. The store has changed, with all its indexes, before a handler is called.
//     A read in the handler gives the object of the call, or a newer state.
//  3. Every change comes exactly once, unless the handler asked for something
//     else with WithDelivery.
//  4. First come the objects of the first list, or those that were there when
//     the handler was added, as additions marked initial.
//  5. After a later list, changes are reported by comparing it with the store:
//     deletions first, then additions and updates.
//  6. Calls for a resync are updates with the same object twice.
//
// Objects are shared with all readers: a handler must not modify them. A handler should return
// soon, and pass longer work on to a queue.
type Handler[T index.Object] interface {
	// OnAdd is called for a new object, and for the initial ones.
	OnAdd(obj T, initial bool)
	// OnUpdate is called when updated replaced old.
	OnUpdate(old, updated T)
	// OnDelete is called when an object is gone.
	OnDelete(deleted Deleted[T])
}

// Deleted is an object that was deleted.
type Deleted[T index.Object] struct {
	// Key is the object's key.
	Key index.Key
	// Object is the last known state, never nil: what the server sent with the
	// deletion if Reason is Watched and that could be used (see source.RejectedError), else
	// the last state in the store.
	Object T
	// Old is the last state that the handler received: the previous state of the store, or an
	// earlier one with the policy Coalesce. It is never nil, unless the informer has an indexer
	// with index.WithLiteralEvents, and the object was not there.
	Old T
	// Reason is how the informer learned of the deletion. If it is Relisted, the object may
	// have changed and come back any number of times before.
	Reason index.Reason
}

// HandlerFuncs is a Handler made of functions, of which any may be nil.
type HandlerFuncs[T index.Object] struct {
	AddFunc    func(obj T, initial bool)
	UpdateFunc func(old, updated T)
	DeleteFunc func(deleted Deleted[T])
}

// OnAdd calls AddFunc.
func (f HandlerFuncs[T]) OnAdd(obj T, initial bool) {
	if f.AddFunc != nil {
		f.AddFunc(obj, initial)
	}
}

// OnUpdate calls UpdateFunc.
func (f HandlerFuncs[T]) OnUpdate(old, updated T) {
	if f.UpdateFunc != nil {
		f.UpdateFunc(old, updated)
	}
}

// OnDelete calls DeleteFunc.
func (f HandlerFuncs[T]) OnDelete(deleted Deleted[T]) {
	if f.DeleteFunc != nil {
		f.DeleteFunc(deleted)
	}
}

// Describer is a Handler that says more of itself than its type does. Handlers that
// are made by a function, such as those of package control, are Describers.
type Describer interface {
	// Describe returns the handler's name in Status and logs, which WithHandlerName
	// overrides, and the error of the arguments that it was made from, which Informer.Handle
	// then returns.
	Describe() (name string, err error)
}

// Describe returns the name that a handler has unless it is given another one, and
// an error if it cannot be used: if it is nil or a nil pointer, or is a Describer that returns one.
// It is for handlers that wrap another one.
func Describe[T index.Object](h Handler[T]) (name string, err error) {
	if argument.IsNil(h) {
		return "", errNilHandler
	}
	switch h := h.(type) {
	case Describer:
		return h.Describe()
	case HandlerFuncs[T]:
		return "functions", nil
	default:
		return fmt.Sprintf("%T", h), nil
	}
}

var errNilHandler = errors.New("handler is nil: create it before the call of Handle")

// dispatch calls the method of h that e is for.
func dispatch[T index.Object](h Handler[T], e *Event[T]) {
	switch e.Type {
	case index.Added:
		h.OnAdd(e.New, e.Reason == index.Initial)
	case index.Updated:
		h.OnUpdate(e.Old, e.New)
	case index.Deleted:
		h.OnDelete(Deleted[T]{Key: e.Key(), Object: e.New, Old: e.Old, Reason: e.Reason})
	}
}
