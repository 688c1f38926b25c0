package typed

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
)

// Identified is an object that knows which one it is, and in which version.
type Identified interface {
	GetNamespace() string
	GetName() string
	GetUID() types.UID
	GetResourceVersion() string
}

// Expected is something that an informer has not seen yet, see
// Informer.ExpectVersion and Informer.ExpectDeleted. It is made for one user, such as
// control.Expectations, and its methods may be called by any goroutine.
type Expected interface {
	// Met reports whether reads of the informer reflect it, or did before a list took the
	// informer back to an earlier version; or the informer has stopped, so that they never
	// will.
	Met() bool
	// Watch calls look whenever Met may have become true, until Unwatch is called, and
	// possibly once more. Call Watch at most once, then call Met. The informer calls look
	// without a lock, and waits for it.
	Watch(look func())
	// Unwatch ends a Watch.
	Unwatch()
	// Listed reports, once met, whether a list may have met it instead of events: the written
	// object may be deleted again, without an event.
	Listed() bool
	// Covers reports whether other is met whenever this is.
	Covers(other Expected) bool
	// String returns the expectation and the informer's progress.
	String() string
}

// versionExpected is met when reads reflect a version.
type versionExpected[T index.Object] struct {
	informer *Informer[T]
	lists    uint64 // that there were when it was made
	waiter   versionWaiter
	seen     atomic.Bool // reads reflected the version: the waiter is called only once

	// Of one key, if the source distinguishes keys:
	key   *index.Key    // nil: of all
	batch atomic.Uint64 // of the queue, by which all is consumed up to the version; 0: not yet reported
	look  keyWaiter
}

// ExpectVersion returns what reports when reads reflect a resource version, as a write to the
// server has returned it: WaitForResourceVersion without a goroutine that waits. It returns an
// error if the version is not a positive number, or the informer cannot be used.
func (a *access[T]) ExpectVersion(version string) (Expected, error) {
	i := a.followed()
	if err := i.canReach(version); err != nil {
		return nil, err
	}
	return &versionExpected[T]{informer: i, lists: i.lists.count.Load(), waiter: versionWaiter{version: version}}, nil
}

// canReach returns an error if reads will never be known to reflect a version:
// what is wrong with the informer, or with the version.
func (i *Informer[T]) canReach(version string) error {
	if err := i.check(); err != nil {
		return err
	}
	if version == "" {
		return fmt.Errorf("informer %s: resource version \"\" is not a positive number: objects of fake clientsets have none; those of the API server in package apitest do", i.name)
	}
	if !atLeast(version, version) {
		return fmt.Errorf("informer %s: resource version %q is not a positive number", i.name, version)
	}
	// What fakes list is at version 0, which is before all others.
	if at := i.ResourceVersion(); at != "" && at != "0" && !atLeast(at, at) {
		return fmt.Errorf("informer %s: it is at the resource versions %s of several inputs; wait for that of one of them, by the method of the view or the fleet", i.name, at)
	}
	return nil
}

func (e *versionExpected[T]) Met() bool { return e.informer.isStopped() || e.isReflected() }

func (e *versionExpected[T]) isReflected() bool {
	if !e.seen.Load() && (atLeast(e.informer.ResourceVersion(), e.waiter.version) || e.key != nil && e.isKeyReflected()) {
		e.seen.Store(true)
	}
	return e.seen.Load()
}

func (e *versionExpected[T]) Listed() bool {
	return e.informer.lists.haveReached(e.waiter.version, e.lists)
}

// CountLists counts lists in c from now on, while c is referred to, and reports whether it did
// so before. Listed cannot report the effects of a list that reads reflected before anything
// was written; a caller who has marked c before it read and wrote can.
func (e *versionExpected[T]) CountLists(c *ListCount) bool { return e.informer.lists.countIn(c) }

func (e *versionExpected[T]) Watch(look func()) {
	e.waiter.reached = func() {
		e.isReflected() // now, as the informer may go back before the watcher asks
		look()
	}
	e.informer.versions.add(&e.waiter)
	if e.key != nil {
		e.look.key, e.look.ready, e.look.look = *e.key, e.isReflected, look
		e.informer.byKey.add(&e.look)
	}
}

func (e *versionExpected[T]) Unwatch() {
	e.informer.versions.remove(&e.waiter)
	if e.key != nil {
		e.informer.byKey.remove(&e.look)
	}
}

func (e *versionExpected[T]) Covers(other Expected) bool {
	o, ok := other.(*versionExpected[T])
	return ok && o.informer == e.informer && atLeast(e.waiter.version, o.waiter.version) &&
		(e.key == nil || o.key != nil && *e.key == *o.key)
}

func (e *versionExpected[T]) String() string {
	if e.key != nil {
		return fmt.Sprintf("informer %s: version %s of %q, is at %q", e.informer.name, e.waiter.version, *e.key, e.informer.sourceAt(*e.key))
	}
	return fmt.Sprintf("informer %s: version %s, is at %q", e.informer.name, e.waiter.version, e.informer.ResourceVersion())
}

// deletionExpected is met when reads reflect that an object is deleted. It is
// expected of a version that the object is known to have had, since before that
// the informer may not have seen it come into being.
type deletionExpected[T index.Object] struct {
	versionExpected[T]

	uid    types.UID
	waiter deletionWaiter
}

// ExpectDeleted returns what reports when reads reflect that an object was deleted: it is
// gone, or there is one of another UID, or it is marked as being deleted. The object is given
// in any state that it had before. One that was rejected and never stored is gone for reads, too:
// see Rejected. It returns an error if that has no UID or its version is
// not a positive number, if the informer's objects have no UIDs, or the informer cannot be
// used.
func (a *access[T]) ExpectDeleted(obj Identified) (Expected, error) {
	e, err := a.followed().expectDeleted(obj)
	if err != nil {
		return nil, err
	}
	return e, nil
}

func (i *Informer[T]) expectDeleted(obj Identified) (*deletionExpected[T], error) {
	if argument.IsNil(obj) {
		return nil, fmt.Errorf("informer %s: a deletion is not expected: object is nil", i.Name())
	}
	key := index.Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}
	if err := i.canReachAt(key, obj.GetResourceVersion()); err != nil {
		return nil, err
	}
	e := &deletionExpected[T]{uid: obj.GetUID()}
	e.informer, e.lists = i, i.lists.count.Load()
	e.versionExpected.waiter.version = obj.GetResourceVersion()
	e.waiter.key = key
	e.watchKey(key)
	var none T
	if _, ok := any(none).(uidGetter); !ok {
		return nil, fmt.Errorf("informer %s: deletion of %q not expected: objects of type %T have no method GetUID", i.name, e.waiter.key, none)
	}
	if e.uid == "" {
		return nil, fmt.Errorf("informer %s: deletion of %q not expected: %w", i.name, e.waiter.key, errNoUID)
	}
	return e, nil
}

// WaitForDeletion waits until reads reflect that an object was deleted: it is gone, or there
// is one of another UID, or it is marked as being deleted, which is all that a deletion does
// to an object with finalizers or a grace period. The object is given in any state that it
// had before. One that was rejected and never stored is gone for reads, too: see Rejected.
//
// It returns an error at once if ExpectDeleted does. It returns ctx's error if ctx ends first,
// and ErrStopped if the informer stops; both also wrap the current list or watch error, or
// ErrNotStarted.
func (a *access[T]) WaitForDeletion(ctx context.Context, obj Identified) error {
	i, ctx, stop := a.within(ctx)
	defer stop()
	e, err := i.expectDeleted(obj)
	if err != nil {
		return err
	}
	i.await(ctx, e)
	if i.isStopped() || !e.isReflected() {
		return i.withFailure(fmt.Errorf("waited for %v: %w", e, i.endOf(ctx)))
	}
	return nil
}

var errNoUID = errors.New("the object has no UID")

func (e *deletionExpected[T]) Met() bool {
	return e.informer.isStopped() || e.isReflected() || e.informer.isStopped() // it may stop meanwhile
}

// isReflected reports whether reads reflect the deletion, which they do not after Release.
func (e *deletionExpected[T]) isReflected() bool {
	if !e.versionExpected.Met() {
		return false
	}
	var obj T
	found := false
	if !unlessReleased(func() { obj, found = e.informer.Get(e.waiter.key) }) {
		return false
	}
	return !found || any(obj).(uidGetter).GetUID() != e.uid || isBeingDeleted(obj)
}

// isBeingDeleted reports whether an object is marked as deleted, and will be
// gone when that has taken its course.
func isBeingDeleted[T index.Object](obj T) bool {
	mortal, ok := any(obj).(interface{ GetDeletionTimestamp() *metav1.Time })
	return ok && mortal.GetDeletionTimestamp() != nil
}

func (e *deletionExpected[T]) Watch(look func()) {
	e.waiter.changed = look
	e.informer.deletions.add(&e.waiter)
	e.versionExpected.Watch(look)
}

func (e *deletionExpected[T]) Unwatch() {
	e.informer.deletions.remove(&e.waiter)
	e.versionExpected.Unwatch()
}

func (e *deletionExpected[T]) Covers(other Expected) bool {
	o, ok := other.(*deletionExpected[T])
	return ok && o.uid == e.uid && e.versionExpected.Covers(&o.versionExpected)
}

func (e *deletionExpected[T]) String() string {
	return fmt.Sprintf("informer %s: deletion of %q with UID %s, is at %q", e.informer.name, e.waiter.key, e.uid, e.informer.ResourceVersion())
}
