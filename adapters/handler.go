package adapters

import (
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// Handler returns a client-go handler as a typed one, so that it can be added to
// a typed informer as it is:
//
//	pods.Handle(adapters.Handler[*corev1.Pod](handler))
//
// A deletion that was not watched, but found by a list for example, comes as a
// cache.DeletedFinalStateUnknown with the last known object, as it does from
// client-go's informers; every other one as the object. One with the reason
// index.Released is none, and the handler is not called for it: the object is another
// process's from then on.
//
// It returns nil if handler is nil, and what ResourceEventHandler was given if
// that made the handler. Informers name the handler after this package: use
// typed.WithHandlerName.
func Handler[T index.Object](handler cache.ResourceEventHandler) typed.Handler[T] {
	switch h := handler.(type) {
	case nil:
		return nil
	case *resourceEventHandler[T]:
		return h.handler
	default:
		return &untypedHandler[T]{ofType[T](), h}
	}
}

// untypedHandler calls a handler of client-go with untyped objects.
type untypedHandler[T index.Object] struct {
	conversion[T]

	handler cache.ResourceEventHandler
}

// Needs returns the fields that the handler is known to read, see typed.Needs.
func (h *untypedHandler[T]) Needs() []string { return needsOf(h.handler) }

// OnAdd implements typed.Handler.
func (h *untypedHandler[T]) OnAdd(obj T, initial bool) {
	if untyped, ok := h.known(obj); ok {
		h.handler.OnAdd(untyped, initial)
	}
}

// OnUpdate implements typed.Handler.
func (h *untypedHandler[T]) OnUpdate(old, updated T) {
	after, ok := h.known(updated)
	if !ok {
		return
	}
	before := after
	if !index.Same(old, updated) {
		if untyped, ok := h.knownBefore(old, after); ok {
			before = untyped
		}
	}
	h.handler.OnUpdate(before, after)
}

// OnDelete implements typed.Handler.
func (h *untypedHandler[T]) OnDelete(deleted typed.Deleted[T]) {
	if deleted.Reason == index.Released {
		return
	}
	if tombstone := h.tombstoneOf(deleted); tombstone != nil {
		h.handler.OnDelete(*tombstone)
		return
	}
	if untyped, ok := h.known(deleted.Object); ok {
		h.handler.OnDelete(untyped)
		return
	}
	h.handler.OnDelete(cache.DeletedFinalStateUnknown{Key: deleted.Key.String()})
}

// TypedHandler does as Handler, for a handler of client-go's typed informers.
func TypedHandler[T cache.Object](handler cache.TypedResourceEventHandler[T]) typed.Handler[T] {
	switch h := handler.(type) {
	case nil:
		return nil
	case *typedResourceEventHandler[T]:
		return h.handler
	default:
		return &typedHandler[T]{ofType[T](), h}
	}
}

// typedHandler calls one of client-go's typed handlers.
type typedHandler[T cache.Object] struct {
	conversion[T]

	handler cache.TypedResourceEventHandler[T]
}

// Needs returns the fields that the handler is known to read, see typed.Needs.
func (h *typedHandler[T]) Needs() []string { return needsOf(h.handler) }

// OnAdd implements typed.Handler.
func (h *typedHandler[T]) OnAdd(obj T, initial bool) { h.handler.OnAdd(obj, initial) }

// OnUpdate implements typed.Handler.
func (h *typedHandler[T]) OnUpdate(old, updated T) { h.handler.OnUpdate(old, updated) }

// OnDelete implements typed.Handler.
func (h *typedHandler[T]) OnDelete(deleted typed.Deleted[T]) {
	if deleted.Reason == index.Released {
		return
	}
	h.handler.OnDelete(cache.DeletedObject[T]{OptionalObj: deleted.Object, FinalStateUnknown: h.tombstoneOf(deleted)})
}

// needsOf returns the fields that one of client-go's handlers is known to read.
func needsOf(handler any) []string {
	if n, ok := handler.(interface{ Needs() []string }); ok {
		return n.Needs()
	}
	return nil
}

// tombstoneOf returns the tombstone that client-go passes for a deletion that was not watched,
// so that the final state is not known. It returns nil if the deletion was watched.
func (c conversion[T]) tombstoneOf(deleted typed.Deleted[T]) *cache.DeletedFinalStateUnknown {
	if deleted.Reason == index.Watched {
		return nil
	}
	tombstone := &cache.DeletedFinalStateUnknown{Key: deleted.Key.String()}
	if untyped, ok := c.known(deleted.Object); ok {
		tombstone.Obj = untyped
	}
	return tombstone
}
