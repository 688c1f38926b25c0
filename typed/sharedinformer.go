package typed

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
)

// SharedInformer is one use of an informer of a Factory. It has the methods of the informer
// except for Run, and with them
//
//  1. Reads are those of the informer, until Release; even after the informer has stopped, see
//     the eighth promise of Informer. Reads after Release never say "not found": they fail
//     with index.ErrReleased, whether the informer still runs for others or not, and so do
//     indexes after the last Release.
//  2. Handlers, followers and event streams belong to this use, and end with it.
//  3. Indexes belong to the informer. All of its users share their names, and they
//     stay as long as it runs.
//  4. After Release, methods that return an error return index.ErrReleased, and those
//     that wait then return at once with it as the cause. Reads without an error
//     panic with it. A handler that Release waits for can still read.
//
// The methods are safe for concurrent use.
type SharedInformer[T index.Object] struct {
	informer atomic.Pointer[Informer[T]] // an empty one after the release

	giveUp func() // tells the factory

	mu            sync.Mutex
	released      bool            // guarded by mu
	registrations []*Registration // guarded by mu
	followings    []*following    // guarded by mu

	waiting sync.Mutex                            // held for moments, unlike mu
	calls   map[*context.CancelCauseFunc]struct{} // guarded by waiting; end calls that wait; nil after the release
}

var _ index.Reader[*metav1.ObjectMeta] = (*SharedInformer[*metav1.ObjectMeta])(nil)

func newSharedInformer[T index.Object](informer *Informer[T], giveUp func()) *SharedInformer[T] {
	s := &SharedInformer[T]{giveUp: giveUp, calls: map[*context.CancelCauseFunc]struct{}{}}
	s.informer.Store(informer)
	return s
}

// Release ends the use of the informer. When it returns, none of its handlers is running
// or will be called again, as with Registration.Close; in a call of one of them,
// it does not wait for that call to end. If this was the last use, the informer
// stops, and is released when it has: Release does not wait for that,
// Factory.Shutdown does.
//
// It may be called any number of times and at any time, even before the informer has synced;
// all but the first call do nothing and return at once.
func (s *SharedInformer[T]) Release() {
	s.mu.Lock()
	if s.released {
		s.mu.Unlock()
		return
	}
	s.released = true
	registrations, followings := s.registrations, s.followings
	s.registrations, s.followings = nil, nil
	s.mu.Unlock()

	s.endCalls()
	for _, f := range followings {
		f.release()
	}
	for _, r := range registrations {
		r.Close()
	}
	s.informer.Store(releasedInformer(s.informer.Load())) // until here, handlers may read
	s.giveUp()
}

// releasedInformer returns an informer in the place of another one, of which nothing
// but the name can be asked.
func releasedInformer[T index.Object](of *Informer[T]) *Informer[T] {
	i := NewInformer[T](nil, WithName(of.name))
	i.origin = of.located()
	i.err = fmt.Errorf("informer %s: %w", i.name, index.ErrReleased)
	i.store.Release()
	i.setPhase(PhaseStopped)
	return i
}

// Handle adds a handler, see Informer.Handle. It is removed by Release, or
// before by Registration.Close.
func (s *SharedInformer[T]) Handle(handler Handler[T], opts ...HandlerOption) (*Registration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.released {
		return nil, fmt.Errorf("informer %s: handler not added: %w", s.Name(), index.ErrReleased)
	}
	r, err := s.informer.Load().Handle(handler, opts...)
	if err != nil {
		return nil, err
	}
	s.registrations = slices.DeleteFunc(s.registrations, func(r *Registration) bool { return r.stopped.Load() })
	s.registrations = append(s.registrations, r)
	return r, nil
}

// Events returns the events as a range, see Informer.Events. It ends with
// Release, too.
func (s *SharedInformer[T]) Events(ctx context.Context, opts ...HandlerOption) *EventStream[T] {
	return &EventStream[T]{visit: func(yield func(Event[T]) bool) error {
		informer := s.informer.Load()
		ctx, stop := s.within(ctx)
		defer stop()
		return informer.visit(ctx, opts, yield)
	}}
}

// AddIndexes adds indexes to the informer, see Informer.AddIndexes.
func (s *SharedInformer[T]) AddIndexes(indexes ...index.Definition[T]) error {
	return s.informer.Load().AddIndexes(indexes...)
}

// Indexes returns the indexes of the informer, see Informer.Indexes. A user who wants
// one that others may have added uses index.Ensure.
func (s *SharedInformer[T]) Indexes() []index.Definition[T] { return s.informer.Load().Indexes() }

// WaitForSync waits until the informer is synced, see Informer.WaitForSync.
func (s *SharedInformer[T]) WaitForSync(ctx context.Context) error {
	informer := s.informer.Load()
	ctx, stop := s.within(ctx)
	defer stop()
	return informer.WaitForSync(ctx)
}

// WaitForResourceVersion waits until reads reflect a version, see
// Informer.WaitForResourceVersion.
func (s *SharedInformer[T]) WaitForResourceVersion(ctx context.Context, resourceVersion string) error {
	informer := s.informer.Load()
	ctx, stop := s.within(ctx)
	defer stop()
	return informer.WaitForResourceVersion(ctx, resourceVersion)
}

// WaitForKeyVersion waits until reads of one object reflect a version, see
// Informer.WaitForKeyVersion.
func (s *SharedInformer[T]) WaitForKeyVersion(ctx context.Context, key index.Key, resourceVersion string) error {
	informer := s.informer.Load()
	ctx, stop := s.within(ctx)
	defer stop()
	return informer.WaitForKeyVersion(ctx, key, resourceVersion)
}

// WaitForDeletion waits until reads reflect a deletion, see Informer.WaitForDeletion.
func (s *SharedInformer[T]) WaitForDeletion(ctx context.Context, obj Identified) error {
	informer := s.informer.Load()
	ctx, stop := s.within(ctx)
	defer stop()
	return informer.WaitForDeletion(ctx, obj)
}

// within returns a context that ends with ctx, or with Release, and then before the informer
// stops.
func (s *SharedInformer[T]) within(ctx context.Context) (_ context.Context, stop func()) {
	ctx, end := context.WithCancelCause(ctx)
	s.waiting.Lock()
	defer s.waiting.Unlock()
	if s.calls == nil {
		end(index.ErrReleased)
		return ctx, func() {}
	}
	s.calls[&end] = struct{}{}
	return ctx, func() {
		s.waiting.Lock()
		delete(s.calls, &end)
		s.waiting.Unlock()
		end(nil)
	}
}

// endCalls ends the contexts of calls that wait.
func (s *SharedInformer[T]) endCalls() {
	s.waiting.Lock()
	calls := s.calls
	s.calls = nil
	s.waiting.Unlock()
	for end := range calls {
		(*end)(index.ErrReleased)
	}
}
