package ctrlruntime

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
)

// Handled is an informer that calls handlers for its objects: a *typed.Informer or a
// *typed.SharedInformer.
type Handled[T index.Object] interface {
	// Name returns the name of the informer in logs and errors.
	Name() string
	// Handle adds a handler, as Informer.Handle of package typed does.
	Handle(handler typed.Handler[T], opts ...typed.HandlerOption) (*typed.Registration, error)
}

// Source feeds a controller from an informer. It is for Watch of a controller and
// WatchesRawSource of the builder, and replaces source.Kind:
//
//  1. The controller's workers start when the handler has returned from all initial
//     objects. If that takes longer than CacheSyncTimeout, the controller's error
//     says what keeps the informer from syncing.
//  2. Start does not wait, neither for the informer to be started nor for it to sync.
//  3. The handler is called as typed.Handler describes, and is removed when the
//     controller stops.
//
// It does not start the informer: see Runnable. The manager runs the informers that Informer
// returns. A Source is for one controller; any number of them may have the same informer.
type Source[T index.Object, request comparable] struct {
	informer Handled[T] // nil: there is none
	make     func(ctx context.Context, q workqueue.TypedRateLimitingInterface[request]) (typed.Handler[T], error)
	opts     []typed.HandlerOption

	mu           sync.Mutex
	ctx          context.Context     // guarded by mu; of the controller, nil before Start
	registration *typed.Registration // guarded by mu; set with ctx
}

func _[T index.Object, request comparable]() {
	var _ source.TypedSyncingSource[request] = (*Source[T, request])(nil)
}

// NewSource returns a source that passes events on to a handler of
// controller-runtime, unless one of predicates says no:
//
//	ctrlruntime.NewSource(pods, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{})
//
// Additions are Create events, of which those of initial objects say so. Deletions have the
// last known state, whose DeleteStateUnknown reports that they were not watched; see
// typed.Deleted. Calls get the context of the controller. If the informer's objects are not
// client.Object, neither handler.TypedFuncs nor predicates of controller-runtime can report
// whether they have changed.
//
// Start returns an error if the informer, the handler or a predicate is nil.
func NewSource[T index.Object, request comparable](
	informer Handled[T],
	handler handler.TypedEventHandler[T, request],
	predicates ...predicate.TypedPredicate[T],
) *Source[T, request] {
	s := &Source[T, request]{informer: present(informer)}
	s.make = func(ctx context.Context, q workqueue.TypedRateLimitingInterface[request]) (typed.Handler[T], error) {
		return newEventHandler(ctx, q, handler, predicates)
	}
	s.opts = []typed.HandlerOption{typed.WithHandlerName(fmt.Sprintf("%T", handler))}
	return s
}

// NewHandlerSource returns a source with a typed handler, which newHandler makes
// when the controller gives it its queue. So what typed has for controllers can be
// used, Enqueue, EnqueueFunc, EnqueueOwner, Filter and FilterUpdates, with the same
// priorities:
//
//	ctrlruntime.NewHandlerSource(pods, func(q control.Adder[reconcile.Request]) typed.Handler[*corev1.Pod] {
//		return control.EnqueueOwner[*corev1.Pod](ctrlruntime.Requests(q), configMapKind)
//	})
//
// For a controller whose requests are index.Key, that may be control.Enqueue itself.
//
// Start returns an error if the informer, the function or what it returns is nil.
func NewHandlerSource[T index.Object, request comparable](
	informer Handled[T],
	newHandler func(q control.Adder[request]) typed.Handler[T],
) *Source[T, request] {
	s := &Source[T, request]{informer: present(informer)}
	s.make = func(_ context.Context, q workqueue.TypedRateLimitingInterface[request]) (typed.Handler[T], error) {
		if newHandler == nil {
			return nil, errors.New("handler function is nil")
		}
		return newHandler(adderOf(q)), nil
	}
	return s
}

// present returns an informer, nil for a nil pointer.
func present[T index.Object](informer Handled[T]) Handled[T] {
	if v := reflect.ValueOf(informer); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return informer
}

// With sets options of the handler, before the source is started:
// typed.WithDelivery, typed.WithResync, typed.WithHandlerName. Start returns an
// error if one cannot be used. It returns the source.
func (s *Source[T, request]) With(opts ...typed.HandlerOption) *Source[T, request] {
	s.opts = append(s.opts, opts...)
	return s
}

// Start is called by a controller when it starts. It returns an error if the source
// was started before, what it was made of cannot be used, or the informer has
// stopped.
func (s *Source[T, request]) Start(ctx context.Context, q workqueue.TypedRateLimitingInterface[request]) error {
	if s.informer == nil {
		return errors.New("typed informer source: informer is nil")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx != nil {
		return fmt.Errorf("%v: it was started before; make a source for each controller", s)
	}
	if q == nil {
		return fmt.Errorf("%v: queue is nil", s)
	}
	h, err := s.make(ctx, q)
	if err != nil {
		return fmt.Errorf("%v: %w", s, err)
	}
	registration, err := s.informer.Handle(h, s.opts...)
	if err != nil {
		return fmt.Errorf("%v: %w", s, err)
	}
	s.ctx, s.registration = ctx, registration
	// No code could wait for the handler to end: a source has no method for that.
	context.AfterFunc(ctx, registration.Close)
	return nil
}

// WaitForSync is called by a controller when it starts. It waits until the handler
// has returned from all initial objects. If ctx ends before, or the informer stops,
// it returns what keeps the informer from syncing, see typed.SyncError. It returns
// nil if the controller itself is to stop, as controller-runtime's sources do, and
// an error if the source was not started.
func (s *Source[T, request]) WaitForSync(ctx context.Context) error {
	s.mu.Lock()
	controller, registration := s.ctx, s.registration
	s.mu.Unlock()
	if controller == nil {
		return fmt.Errorf("%v: it was not started", s)
	}
	err := registration.WaitForSync(ctx)
	if err != nil && controller.Err() != nil {
		return nil
	}
	return err
}

// String returns the source's name in logs and errors.
func (s *Source[T, request]) String() string {
	if s.informer == nil {
		return "typed informer source: no informer"
	}
	return "typed informer source: " + s.informer.Name()
}
