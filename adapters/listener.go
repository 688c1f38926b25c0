package adapters

import (
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// listener is a handler of a shared informer, as the informer calls it, and the registration
// that the caller of AddEventHandler gets.
type listener[T cache.Object] struct {
	handler      typed.Handler[T]
	logger       klog.Logger
	checker      *doneChecker
	informer     *typed.Informer[T] // of the registration
	registration *typed.Registration
	reached      *reachedVersions // of the informer
	staysInScope bool             // deletions of objects that leave the scope of the informer are not for it

	requested time.Duration // guarded by the informer's mu; the resync period that was asked for
	period    time.Duration // guarded by the informer's mu; that it has, 0 if none
	next      time.Time     // guarded by the informer's mu; when a resync is due
	due       bool          // guarded by the informer's mu; the last time that it was looked

	// Owned by the goroutine that calls.
	syncing   bool // unchanged objects are for it: a resync was due, or look was never called
	panicked  bool // the last call has
	neverSync bool // a call for an initial object has

	synced chan struct{}
}

func _[T cache.Object]() { var _ cache.ResourceEventHandlerRegistration = (*listener[T])(nil) }

// pause is how long a handler is left alone after it has panicked, as in
// client-go's processorListener.
const pause = time.Second

// begin comes before each call, end after it, unless the call panics.
func (l *listener[T]) begin() {
	if l.panicked {
		time.Sleep(pause)
	}
	l.panicked = true
}

func (l *listener[T]) end() { l.panicked = false }

// Needs returns the fields that the handler is known to read, see typed.Needs.
func (l *listener[T]) Needs() []string { return typed.Needs(l.handler) }

// OnAdd implements typed.Handler.
func (l *listener[T]) OnAdd(obj T, initial bool) {
	defer utilruntime.HandleCrashWithLogger(l.logger)
	l.begin()
	if initial {
		defer func() { l.neverSync = l.neverSync || l.panicked }()
	}
	l.handler.OnAdd(obj, initial)
	l.end()
}

// OnUpdate implements typed.Handler. As in client-go, an update that has not changed the
// resource version is only for the handlers that were due at the last resync. With no resync at
// all, every handler is due. An update of an object without a version is for every handler,
// too.
func (l *listener[T]) OnUpdate(old, updated T) {
	if !l.syncing && sameVersion(old, updated) {
		return
	}
	defer utilruntime.HandleCrashWithLogger(l.logger)
	l.begin()
	l.handler.OnUpdate(old, updated)
	l.end()
}

// OnDelete implements typed.Handler.
func (l *listener[T]) OnDelete(deleted typed.Deleted[T]) {
	if l.staysInScope && deleted.Reason == index.OutOfScope {
		return
	}
	defer utilruntime.HandleCrashWithLogger(l.logger)
	l.begin()
	l.handler.OnDelete(deleted)
	l.end()
}

// look notes whether a resync is due, and reports it. It takes effect after the
// events that the handler has not been called for yet.
func (l *listener[T]) look(now time.Time) bool {
	l.due = l.period > 0 && !now.Before(l.next)
	if l.due {
		l.next = now.Add(l.period)
	}
	due := l.due
	l.registration.After(func() { l.syncing = due })
	return due
}

// HasSynced implements cache.ResourceEventHandlerRegistration. As in client-go, a
// handler never syncs that has panicked for one of the initial objects.
func (l *listener[T]) HasSynced() bool { return cache.IsDone(l.checker) }

// HasSyncedChecker implements cache.ResourceEventHandlerRegistration.
func (l *listener[T]) HasSyncedChecker() cache.DoneChecker { return l.checker }

// onSynced is called by the goroutine that calls the handler.
func (l *listener[T]) onSynced() {
	if !l.neverSync {
		close(l.synced)
	}
}

// ShutdownChan is what cache.ShutDownEventHandler waits for.
func (l *listener[T]) ShutdownChan() <-chan struct{} { return l.registration.Done() }
