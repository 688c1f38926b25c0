package adapters

import (
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/observer"
	"github.com/kubetyped/informer/typed"
)

// reachedVersions notes to which version the store of an informer has come, when the events up to
// it are on their way to handlers. It is for informers whose handlers may not get objects in the
// order of their versions: those with several watches, those with own writes, and those that were
// made elsewhere.
type reachedVersions struct {
	last atomic.Pointer[string]
	of   interface{ ResourceVersion() string } // the informer, if that was made elsewhere
}

// now returns the last version, "" before the first.
func (r *reachedVersions) now() string {
	if r.of != nil { // Registration.After waits for the events up to it
		return r.of.ResourceVersion()
	}
	if last := r.last.Load(); last != nil {
		return clientVersion(*last)
	}
	return ""
}

// observeReached adds the observer of the versions that are reached. If objects are not in order, it
// notes them. A store that has come to no version has none for the readers of the typed informer,
// too.
func (s *informer[T]) observeReached(store *index.Indexer[T], opts []typed.Option) []typed.Option {
	if s.source.writing != nil || s.source.spaces != nil {
		s.reached = &reachedVersions{}
	}
	return append(opts, typed.WithObserver(observer.Of(observer.Hooks{Reached: func(version string) {
		if version == unknownVersion && store.ResourceVersion() == version { // no write of a user has come since
			store.SetResourceVersion("")
		}
		if s.reached != nil {
			s.reached.last.Store(&version)
		}
	}})))
}

// unordered is a registration of a handler that may not get objects in the order of their versions.
type unordered interface {
	// reachedVersions returns the versions of the store, nil if objects are in order, and a
	// function by which another one is called after the events up to now.
	reachedVersions() (versions *reachedVersions, after func(func()))
}

func (l *listener[T]) reachedVersions() (*reachedVersions, func(func())) {
	return l.reached, l.registration.After
}

// registered notes whether the registration of the handler knows versions. It comes before begin.
func (f *sharedFeed[T]) registered(handle cache.ResourceEventHandlerRegistration) {
	of, ok := handle.(unordered)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reached, f.after = of.reachedVersions()
	f.version.early = f.reached != nil
}

// ask makes the handler's goroutine call reach, with the version of the informer's store, when all
// events up to it were passed on. It returns true if that version is reported already. The caller
// holds mu.
func (f *sharedFeed[T]) ask() (reported bool) {
	version := f.reached.now()
	if version == "" || version == f.version.reported {
		return true
	}
	if !f.asked {
		f.asked = true
		f.after(func() { f.reach(version) })
	}
	return false
}

// reach reports a version up to which all has been passed on.
func (f *sharedFeed[T]) reach(version string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = false
	if f.phase == sharedFollowing {
		f.version.reported = version
		f.sink.Step(nil, version, nil)
	}
}
