package adapters

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/internal/deepcopy"
	"github.com/kubetyped/informer/typed/source"
)

var (
	// ErrSharedNotStarted means that a source over a shared informer has no objects because
	// the shared informer was not started.
	ErrSharedNotStarted = errors.New("the shared informer was not started: run it, or start its factory")
	// ErrSharedNotSynced means that a source over a shared informer has no objects as the
	// shared informer has not synced. The cause is in the shared informer's own log; it may
	// also be that it was not started.
	ErrSharedNotSynced = errors.New("the shared informer has not synced: was it started, and can it list?")
	// ErrSharedStopped is what a source over a shared informer ends with when
	// the shared informer has stopped.
	ErrSharedStopped = errors.New("the shared informer has stopped")
)

// FromShared returns a source of the objects of a shared informer: client-go's,
// or any other that keeps the interface's promises.
//
//	pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](factory.Core().V1().Pods().Informer()))
//
// There is no second list or watch, and no second copy of an object: both
// informers hold the same pointers, unless typed.WithTransform may modify what the
// second one gets, which then are copies. Run adds one handler to the shared informer,
// and removes it before it returns; between, the shared informer does for it
// what it does for every handler. The shared informer is started and stopped by
// its owner, before or after Run.
//
//  1. The first objects are reported by a Replace with the shared informer's initial additions.
//     It comes when the handler's registration has synced.
//  2. Everything that the shared informer sends its handlers from then on is
//     reported, in that order, once. Updates of a resync, which have the same
//     object twice, are left out: a typed handler has its own resyncs.
//  3. A DeletedFinalStateUnknown is a deletion of the object in it, with the reason
//     index.Relisted. If there is no T in it, the handler is added again, and its additions are
//     reported as a Replace, which deletes the last known object.
//  4. An object of another type is reported as a *source.RejectedError and left out. Its
//     deletion is one of the last known object.
//  5. The resource version is that of the shared informer's store, and no
//     earlier than everything up to it was reported: with the next event beyond
//     it, or when no event has come for 10 ms after the one that has brought the
//     store to that version. Where there is none, after a bookmark or a relist,
//     it is when no event has come for 100 ms, which is noticed within about a
//     second. If the informer is one of this project with several watches or own writes, or
//     from SharedIndexInformer, it is about 10 ms after everything was reported, and a second
//     after a bookmark.
//
// While the shared informer has not synced, the source reports ErrSharedNotStarted after a
// second if it can report that the informer was not started, as it can for client-go's own,
// and ErrSharedNotSynced after ten; then again after twice the time. So WaitForSync names the
// cause. If the shared informer stops, or has stopped before, Run returns ErrSharedStopped.
//
// After a relist of the shared informer, an object that has not changed may stay as it was
// received before: client-go reports such objects only to handlers with resyncs.
func FromShared[T index.Object](informer cache.SharedInformer) source.Source[T] {
	return newSharedSource[T](informer, source.Origin{})
}

func newSharedSource[T index.Object](informer cache.SharedInformer, from source.Origin) *sharedSource[T] {
	s := &sharedSource[T]{informer: informer, origin: from}
	if argument.IsNil(informer) {
		s.informer, s.err = nil, errors.New("shared informer is nil")
	}
	return s
}

// sharedSource is a Source over a shared informer.
type sharedSource[T index.Object] struct {
	informer cache.SharedInformer
	origin   source.Origin // as far as a factory knows it
	err      error         // what was wrong with the arguments
}

// Origin implements source.Located.
func (s *sharedSource[T]) Origin() source.Origin { return s.origin }

// Omits implements source.Partial.
func (s *sharedSource[T]) Omits(field string) bool {
	of, _ := AnyInformer(s.informer)
	partial, ok := of.(interface{ Omits(field string) bool })
	return ok && partial.Omits(field)
}

// DerivedFrom implements source.Derived: it returns the informer of this project on which the
// shared informer stands, or else what stands for that.
func (s *sharedSource[T]) DerivedFrom() []source.Derived {
	of, _ := AnyInformer(s.informer)
	if derived, ok := of.(source.Derived); ok {
		return []source.Derived{derived}
	}
	informer := s.informer
	for inner := informer; inner != nil; inner = embeddedIn(inner) {
		informer = inner
	}
	if informer == nil {
		return nil
	}
	return []source.Derived{sharedRoot{informer}}
}

// sharedRoot is a shared informer of client-go's, from which sources are derived.
type sharedRoot struct{ informer cache.SharedInformer }

// DerivedFrom implements source.Derived.
func (sharedRoot) DerivedFrom() []source.Derived { return nil }

// Name returns what errors call the informer.
func (r sharedRoot) Name() string { return fmt.Sprintf("the shared informer %T at %[1]p", r.informer) }

// How long a source over a shared informer waits, see FromShared.
const (
	sharedSettles    = 10 * time.Millisecond
	sharedLooks      = time.Second
	sharedNotStarted = time.Second
	sharedNotSynced  = 10 * time.Second
)

// Run implements source.Source.
func (s *sharedSource[T]) Run(ctx context.Context, sink source.Sink[T]) error {
	if s.err != nil {
		return s.err
	}
	var lend func(T) T
	if sink.Decoding().Modifies {
		var err error
		if lend, err = deepcopy.Of[T](); err != nil {
			return fmt.Errorf("source over the shared informer of %v: a transform would modify its objects, which cannot be copied: %w", reflect.TypeFor[T](), err)
		}
	}
	for {
		feed := newSharedFeed(sink, s.informer.GetStore())
		feed.lend = lend
		again, err := s.follow(ctx, feed)
		switch {
		case err != nil:
			return fmt.Errorf("source over the shared informer of %v: %w", reflect.TypeFor[T](), err)
		case !again:
			return nil
		}
	}
}

// follow adds feed to the shared informer, until ctx ends or the shared informer
// stops. It reports whether it is to be called again with another feed.
func (s *sharedSource[T]) follow(ctx context.Context, feed *sharedFeed[T]) (again bool, err error) {
	if s.informer.IsStopped() {
		return false, ErrSharedStopped
	}
	logger := klog.FromContext(ctx)
	handle, err := s.informer.AddEventHandlerWithOptions(feed, cache.HandlerOptions{Logger: &logger, ResyncPeriod: new(time.Duration)})
	switch {
	case err != nil && s.informer.IsStopped():
		return false, ErrSharedStopped
	case err != nil:
		return false, fmt.Errorf("handler not added: %w", err)
	case handle == nil:
		return false, errors.New("AddEventHandler returned no registration")
	}
	feed.registered(handle)
	ended := sharedHandlerEnded(handle)
	defer func() {
		feed.close()
		if removeErr := s.informer.RemoveEventHandler(handle); removeErr != nil {
			err = errors.Join(err, fmt.Errorf("handler not removed: %w", removeErr))
		} else if ended != nil {
			<-ended
		}
	}()

	synced := handle.HasSyncedChecker().Done()
	patience := newSharedPatience(s.informer)
	look := time.NewTimer(sharedLooks)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case <-ended:
			return false, ErrSharedStopped
		case <-feed.lost:
			return true, nil
		case <-synced:
			synced = nil
			feed.begin()
			look.Reset(sharedSettles)
		case <-feed.stirred:
			look.Reset(sharedSettles)
		case <-look.C:
			if s.informer.IsStopped() {
				return false, ErrSharedStopped
			}
			if synced != nil {
				patience.report(feed.sink.Report)
			}
			if feed.settle() {
				look.Reset(sharedLooks)
			} else {
				look.Reset(sharedSettles)
			}
		}
	}
}

// sharedHandlerEnded returns a channel that is closed when a handler will not be
// called any more, nil if the shared informer does not have one;
// cache.ShutDownEventHandler waits for the same.
func sharedHandlerEnded(handle cache.ResourceEventHandlerRegistration) <-chan struct{} {
	if h, ok := handle.(interface{ ShutdownChan() <-chan struct{} }); ok {
		return h.ShutdownChan()
	}
	return nil
}

// sharedPatience reports that a shared informer does not sync, more and more
// rarely.
type sharedPatience struct {
	hasStarted func() bool // nil: the informer does not report it
	began      time.Time
	notStarted time.Duration // since began, when it is time to report that
	notSynced  time.Duration
}

func newSharedPatience(informer cache.SharedInformer) *sharedPatience {
	p := &sharedPatience{began: time.Now(), notStarted: sharedNotStarted, notSynced: sharedNotSynced}
	if i, ok := find[interface{ HasStarted() bool }](informer); ok {
		p.hasStarted = i.HasStarted
	}
	return p
}

func (p *sharedPatience) report(to func(error)) {
	waited := time.Since(p.began)
	switch {
	case p.hasStarted != nil && !p.hasStarted():
		if waited >= p.notStarted {
			p.notStarted = 2 * waited
			to(ErrSharedNotStarted)
		}
	case waited >= p.notSynced:
		p.notSynced = 2 * waited
		to(ErrSharedNotSynced)
	}
}
