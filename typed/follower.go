package typed

import (
	"context"
	"fmt"
	"slices"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// Follower receives every step of an informer's store as it happens, on the informer's own
// goroutines, to keep results computed from the objects. Package view consists of followers;
// other code needs a [Handler].
//
// The methods are called one at a time, except for Report; the informer's lock is held, so
// they return at once, and do not call the informer. A panic of one that Follow calls is that of
// Follow. Any other is reported by utilruntime.HandleCrash; other followers and handlers still
// receive the step.
type Follower[T index.Object] interface {
	// Begin comes first, with the current objects. Every later step follows.
	Begin(objects *index.Snapshot[T])
	// Step reports the events of one step, in their order, after which the store is at a
	// resource version, "" if that is not known. Readers have never seen only some of them.
	// The slice is the caller's. There may be no events: then only the version has changed.
	Step(events []Event[T], resourceVersion string)
	// Synced reports that the store holds the first list.
	Synced()
	// Report passes the current list or watch error, nil when they work, and ErrNotStarted at
	// the beginning if Run was not called. It may be called by several goroutines.
	Report(err error)
	// End comes last: the informer has stopped, or the SharedInformer was released, with
	// the given cause. It does not come after an Unfollow.
	End(cause error)
}

// Followed is an Informer or a SharedInformer.
type Followed[T index.Object] interface {
	index.Reader[T]
	// Name returns the informer's name.
	Name() string
	// Follow adds a follower, which receives everything from now on. Unfollow removes it:
	// when it returns, no method runs or will be called. Follow returns an error if f is nil or
	// a nil pointer, or the informer has stopped, was released, or could not be made; or if f has
	// the method Needs, and a field that it returns is left out, see Needs.
	Follow(f Follower[T]) (unfollow func(), err error)
	// DerivedFrom returns the informer's source, if that is Derived, and of a SharedInformer
	// the informer.
	source.Derived

	// Is reports whether both are the same informer, or uses of it.
	Is(other Followed[T]) bool

	followed() *Informer[T]
}

// DerivedFrom implements source.Derived.
func (i *Informer[T]) DerivedFrom() []source.Derived { return source.DerivedOf(i.source) }

// DerivedFrom implements source.Derived: it is derived from the informer.
func (s *SharedInformer[T]) DerivedFrom() []source.Derived {
	return []source.Derived{s.followed()}
}

// Follow implements Followed.
func (i *Informer[T]) Follow(f Follower[T]) (unfollow func(), err error) {
	leave, err := i.follow(f)
	if err != nil {
		return nil, err
	}
	return func() { leave() }, nil
}

// follow does as Follow. Its leave removes f, and reports whether f has received everything
// until then.
func (i *Informer[T]) follow(f Follower[T]) (leave func() bool, err error) {
	if argument.IsNil(f) {
		return nil, fmt.Errorf("informer %s: follower not added: follower is nil: create it before the call of Follow", i.name)
	}
	if leave, err = i.addFollower(f); err != nil {
		return nil, err
	}
	if err := i.checkNeeds(needsOf(f)); err != nil {
		leave()
		return nil, fmt.Errorf("informer %s: follower not added: %w", i.name, err)
	}
	return leave, nil
}

func (i *Informer[T]) addFollower(f Follower[T]) (leave func() bool, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.check(); err != nil {
		return nil, err
	}
	if i.Phase() == report.PhaseStopped {
		return nil, fmt.Errorf("informer %s: follower not added: %w", i.name, i.endOf(context.Background()))
	}
	i.followers.reporting.Lock()
	defer i.followers.reporting.Unlock()
	if i.Phase() == report.PhaseNew {
		f.Report(ErrNotStarted)
	} else {
		var s report.Status
		i.health.fill(&s)
		f.Report(s.Err)
	}
	objects := i.store.Snapshot()
	f.Begin(objects)
	if i.isSynced() {
		f.Synced()
	}
	one := &f
	i.followers.list.add(one)
	if now := i.store.ResourceVersion(); now != objects.ResourceVersion() {
		f.Step(nil, now) // a bookmark, which takes no lock unless there are followers
	}
	return func() bool {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.followers.reporting.Lock() // when a Report that runs has returned
		defer i.followers.reporting.Unlock()
		return i.followers.list.remove(func(other *Follower[T]) bool { return other == one })
	}, nil
}

// Follow implements Followed. The follower ends with Release, too, before that returns.
func (s *SharedInformer[T]) Follow(f Follower[T]) (unfollow func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.released {
		return nil, fmt.Errorf("informer %s: follower not added: %w", s.Name(), index.ErrReleased)
	}
	informer := s.followed()
	leave, err := informer.follow(f)
	if err != nil {
		return nil, err
	}
	one := &following{leave: leave, end: func() { f.End(fmt.Errorf("informer %s: %w", informer.name, index.ErrReleased)) }}
	s.followings = append(s.followings, one)
	return func() {
		s.mu.Lock()
		s.followings = slices.DeleteFunc(s.followings, func(other *following) bool { return other == one })
		s.mu.Unlock()
		one.mu.Lock()
		defer one.mu.Unlock()
		leave()
	}, nil
}

// following is a follower of a SharedInformer.
type following struct {
	mu    sync.Mutex  // held while it is ended
	leave func() bool // reports whether it has received everything until now
	end   func()
}

// release removes the follower, and calls end unless the follower has ended before.
func (f *following) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leave() {
		callFollower(f.end)
	}
}

// followerList contains the followers of an informer.
type followerList[T index.Object] struct {
	list sharedList[*Follower[T]]
	// reporting is taken after the informer's lock. It guards calls of Report against the addition
	// and the removal of a follower: a new one misses no report, and a removed one receives none.
	reporting sync.Mutex
}

// callFollower calls a method of a follower. If that panics, the informer still calls the other
// followers and continues, unless utilruntime.HandleCrash ends the process.
func callFollower(call func()) {
	defer utilruntime.HandleCrash()
	call()
}

func (l *followerList[T]) step(events []Event[T], version string) {
	if len(events) == 0 && version == "" {
		return
	}
	for _, f := range l.list.all() {
		callFollower(func() { (*f).Step(events, version) })
	}
}

func (l *followerList[T]) synced() {
	for _, f := range l.list.all() {
		callFollower((*f).Synced)
	}
}

func (l *followerList[T]) report(err error) {
	l.reporting.Lock()
	defer l.reporting.Unlock()
	for _, f := range l.list.all() {
		callFollower(func() { (*f).Report(err) })
	}
}

// end calls End of all followers, and removes them.
func (l *followerList[T]) end(cause error) {
	for _, f := range l.list.takeAll() {
		callFollower(func() { (*f).End(cause) })
	}
}
