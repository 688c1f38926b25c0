package ctrlruntime

import (
	"context"
	"errors"
	"slices"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// eventHandler is a handler of controller-runtime as one of an informer.
type eventHandler[T index.Object, request comparable] struct {
	ctx        context.Context // of the controller
	queue      workqueue.TypedRateLimitingInterface[request]
	handler    handler.TypedEventHandler[T, request]
	predicates []predicate.TypedPredicate[T]
}

func newEventHandler[T index.Object, request comparable](
	ctx context.Context,
	queue workqueue.TypedRateLimitingInterface[request],
	handler handler.TypedEventHandler[T, request],
	predicates []predicate.TypedPredicate[T],
) (typed.Handler[T], error) {
	if handler == nil {
		return nil, errors.New("handler is nil")
	}
	if slices.Contains(predicates, nil) {
		return nil, errors.New("predicate is nil")
	}
	return &eventHandler[T, request]{ctx: ctx, queue: queue, handler: handler, predicates: predicates}, nil
}

// OnAdd implements typed.Handler.
func (h *eventHandler[T, request]) OnAdd(obj T, initial bool) {
	e := event.TypedCreateEvent[T]{Object: obj, IsInInitialList: initial}
	if !slices.ContainsFunc(h.predicates, func(p predicate.TypedPredicate[T]) bool { return !p.Create(e) }) {
		h.handler.Create(h.ctx, e, h.queue)
	}
}

// OnUpdate implements typed.Handler.
func (h *eventHandler[T, request]) OnUpdate(old, updated T) {
	e := event.TypedUpdateEvent[T]{ObjectOld: old, ObjectNew: updated}
	if !slices.ContainsFunc(h.predicates, func(p predicate.TypedPredicate[T]) bool { return !p.Update(e) }) {
		h.handler.Update(h.ctx, e, h.queue)
	}
}

// OnDelete implements typed.Handler.
func (h *eventHandler[T, request]) OnDelete(deleted typed.Deleted[T]) {
	if deleted.Reason == index.Released { // it is another process's now
		return
	}
	e := event.TypedDeleteEvent[T]{Object: deleted.Object, DeleteStateUnknown: deleted.Reason != index.Watched}
	if !slices.ContainsFunc(h.predicates, func(p predicate.TypedPredicate[T]) bool { return !p.Delete(e) }) {
		h.handler.Delete(h.ctx, e, h.queue)
	}
}
