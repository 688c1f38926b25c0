package adapters

import (
	"fmt"
	"reflect"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// ResourceEventHandler returns a typed handler as one of client-go, so that it
// can be added to a shared informer as it is:
//
//	informer.AddEventHandler(adapters.ResourceEventHandler(handler))
//
// A cache.DeletedFinalStateUnknown becomes a typed.Deleted with the reason index.Relisted,
// every other deletion one with index.Watched. Old is the same as Object, because client-go
// does not report it. If there is no object in the DeletedFinalStateUnknown, Object is a new T
// that has its namespace and name and nothing else.
//
// An object that is nil or not a T is reported by utilruntime.HandleError and left out, of an
// update if one of both is not. So is a deletion without an object, if T is not a pointer to a
// type that has SetNamespace and SetName.
//
// It returns nil if handler is nil, and what Handler was given if that made the
// handler.
func ResourceEventHandler[T index.Object](handler typed.Handler[T]) cache.ResourceEventHandler {
	switch h := handler.(type) {
	case nil:
		return nil
	case *untypedHandler[T]:
		return h.handler
	default:
		return &resourceEventHandler[T]{handler: h}
	}
}

// resourceEventHandler makes a client-go handler of a typed.Handler.
type resourceEventHandler[T index.Object] struct{ handler typed.Handler[T] }

// Needs returns the fields that the handler is known to read, see typed.Needs.
func (h *resourceEventHandler[T]) Needs() []string { return typed.Needs(h.handler) }

func (h *resourceEventHandler[T]) OnAdd(untyped any, initial bool) {
	if obj, ok := handled[T](h.handler, "addition", untyped); ok {
		h.handler.OnAdd(obj, initial)
	}
}

func (h *resourceEventHandler[T]) OnUpdate(untypedOld, untyped any) {
	old, ok := handled[T](h.handler, "update, old object", untypedOld)
	if !ok {
		return
	}
	if obj, ok := handled[T](h.handler, "update", untyped); ok {
		h.handler.OnUpdate(old, obj)
	}
}

func (h *resourceEventHandler[T]) OnDelete(untyped any) {
	tombstone, missing := untyped.(cache.DeletedFinalStateUnknown)
	if missing {
		handleMissing(h.handler, tombstone)
	} else if obj, ok := handled[T](h.handler, "deletion", untyped); ok {
		h.handler.OnDelete(deletedFor(obj, index.Watched))
	}
}

// TypedResourceEventHandler does as ResourceEventHandler, for client-go's typed
// informers:
//
//	informer.AddTypedEventHandler(adapters.TypedResourceEventHandler(handler))
func TypedResourceEventHandler[T cache.Object](handler typed.Handler[T]) cache.TypedResourceEventHandler[T] {
	switch h := handler.(type) {
	case nil:
		return nil
	case *typedHandler[T]:
		return h.handler
	default:
		return &typedResourceEventHandler[T]{handler: h}
	}
}

// typedResourceEventHandler makes a handler for client-go's typed informers of a
// typed.Handler.
type typedResourceEventHandler[T cache.Object] struct{ handler typed.Handler[T] }

// Needs returns the fields that the handler is known to read, see typed.Needs.
func (h *typedResourceEventHandler[T]) Needs() []string { return typed.Needs(h.handler) }

func (h *typedResourceEventHandler[T]) OnAdd(obj T, initial bool) { h.handler.OnAdd(obj, initial) }

func (h *typedResourceEventHandler[T]) OnUpdate(old, updated T) { h.handler.OnUpdate(old, updated) }

func (h *typedResourceEventHandler[T]) OnDelete(deleted cache.DeletedObject[T]) {
	switch {
	case isZero(deleted.OptionalObj):
		key := deleted.GetObjectName()
		handleMissing(h.handler, cache.DeletedFinalStateUnknown{Key: key.String()})
	case deleted.FinalStateUnknown != nil:
		h.handler.OnDelete(deletedFor(deleted.OptionalObj, index.Relisted))
	default:
		h.handler.OnDelete(deletedFor(deleted.OptionalObj, index.Watched))
	}
}

func deletedFor[T index.Object](obj T, reason index.Reason) typed.Deleted[T] {
	return typed.Deleted[T]{Key: index.KeyOf(obj), Object: obj, Old: obj, Reason: reason}
}

// handleMissing calls a handler for a deletion that was found by a list.
func handleMissing[T index.Object](handler typed.Handler[T], tombstone cache.DeletedFinalStateUnknown) {
	if tombstone.Obj != nil {
		if obj, ok := handled[T](handler, "deletion, last known object", tombstone.Obj); ok {
			handler.OnDelete(deletedFor(obj, index.Relisted))
		}
		return
	}
	key, err := cache.ParseObjectName(tombstone.Key)
	if err != nil {
		leaveOut(handler, "deletion", fmt.Errorf("key %q is not namespace and name: %w", tombstone.Key, err))
		return
	}
	obj, ok := newNamed[T](index.Key(key))
	if !ok {
		leaveOut(handler, "deletion", fmt.Errorf("the last state of object %q is not known, and a %v cannot be made of its name", key, reflect.TypeFor[T]()))
		return
	}
	handler.OnDelete(deletedFor(obj, index.Relisted))
}

// newNamed returns a new T that has nothing but a name, false if there is none.
func newNamed[T index.Object](key index.Key) (obj T, ok bool) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Pointer || key.Name == "" {
		return obj, false
	}
	untyped := reflect.New(t.Elem()).Interface()
	named, ok := untyped.(interface {
		SetNamespace(string)
		SetName(string)
	})
	if !ok {
		return obj, false
	}
	named.SetNamespace(key.Namespace)
	named.SetName(key.Name)
	obj, ok = untyped.(T)
	return obj, ok
}

// handled returns the argument of a handler's call as a T. It reports one that is nil or not a
// T.
func handled[T index.Object](handler typed.Handler[T], what string, untyped any) (T, bool) {
	obj, ok := untyped.(T)
	switch {
	case !ok:
		leaveOut(handler, what, fmt.Errorf("type is %T, want %v", untyped, reflect.TypeFor[T]()))
	case isZero(obj):
		leaveOut(handler, what, fmt.Errorf("object is a nil %T", untyped))
		ok = false
	}
	return obj, ok
}

func leaveOut[T index.Object](handler typed.Handler[T], what string, err error) {
	utilruntime.HandleError(fmt.Errorf("handler %T: %s was left out: %w", handler, what, err))
}
