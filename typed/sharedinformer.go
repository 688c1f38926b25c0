package typed

import (
	"fmt"
	"slices"
	"sync"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/typed/report"
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
	access[T]

	giveUp func() // ends the use in the factory

	mu            sync.Mutex
	released      bool            // guarded by mu
	registrations []*Registration // guarded by mu
	followings    []*following    // guarded by mu
}

func _[T index.Object]() { var _ index.Reader[T] = (*SharedInformer[T])(nil) }

func newSharedInformer[T index.Object](informer *Informer[T], giveUp func()) *SharedInformer[T] {
	s := &SharedInformer[T]{giveUp: giveUp}
	s.calls = newPendingCalls()
	s.refer(informer)
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

	s.calls.end()
	for _, f := range followings {
		f.release()
	}
	for _, r := range registrations {
		r.Close()
	}
	s.refer(releasedInformer(s.followed())) // until here, handlers may read
	s.giveUp()
}

// releasedInformer returns an informer that replaces a released one: it keeps its name and
// origin, and everything else fails with index.ErrReleased.
func releasedInformer[T index.Object](of *Informer[T]) *Informer[T] {
	i := NewInformer[T](nil, WithName(of.name))
	i.origin = of.located()
	i.err = fmt.Errorf("informer %s: %w", i.name, index.ErrReleased)
	i.store.Release()
	i.setPhase(report.PhaseStopped)
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
	r, err := s.followed().Handle(handler, opts...)
	if err != nil {
		return nil, err
	}
	s.registrations = slices.DeleteFunc(s.registrations, func(r *Registration) bool { return monitor.IsClosed(r.done) }) // not before: Release waits for a call that has not ended
	s.registrations = append(s.registrations, r)
	return r, nil
}
