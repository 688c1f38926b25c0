package typed

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
)

// Observer is what will see a write: an *Informer, or a *Lease of one, whatever
// the type of its objects. No other type implements it.
type Observer interface {
	// Name returns the informer's name.
	Name() string
	// ResourceVersion returns the version that reads reflect at least, "" before
	// the first list.
	ResourceVersion() string

	expectVersion(version string) (expected, error)
	expectDeparture(obj Identified) (expected, error)
}

// Identified is an object that knows which one it is, and in which version.
type Identified interface {
	GetNamespace() string
	GetName() string
	GetUID() types.UID
	GetResourceVersion() string
}

// expected is something that an informer has not seen yet.
type expected interface {
	// met reports whether the informer has seen it, or has stopped, so that it
	// never will.
	met() bool
	// begin has look called, without a lock, whenever met may have become true
	// since, until end is called, and possibly once more.
	begin(look func())
	end()
	// covers reports whether other is met whenever this is.
	covers(other expected) bool
	// String tells what is expected and how far the informer is.
	String() string
}

// versionExpected is met when reads reflect a version.
type versionExpected[T index.Object] struct {
	informer *Informer[T]
	waiter   versionWaiter
}

func (i *Informer[T]) expectVersion(version string) (expected, error) {
	if err := i.canReach(version); err != nil {
		return nil, err
	}
	return &versionExpected[T]{informer: i, waiter: versionWaiter{version: version}}, nil
}

// canReach returns an error if reads will never be known to reflect a version:
// what is wrong with the informer, or with the version.
func (i *Informer[T]) canReach(version string) error {
	if i == nil {
		return errNilObserver
	}
	if err := i.check(); err != nil {
		return err
	}
	if !atLeast(version, version) {
		return fmt.Errorf("informer %s: resource version %q is not a positive number", i.name, version)
	}
	return nil
}

func (e *versionExpected[T]) met() bool {
	return atLeast(e.informer.ResourceVersion(), e.waiter.version) || e.informer.isStopped()
}

func (e *versionExpected[T]) begin(look func()) {
	e.waiter.reached = look
	e.informer.versions.add(&e.waiter)
}

func (e *versionExpected[T]) end() { e.informer.versions.remove(&e.waiter) }

func (e *versionExpected[T]) covers(other expected) bool {
	o, ok := other.(*versionExpected[T])
	return ok && o.informer == e.informer && atLeast(e.waiter.version, o.waiter.version)
}

func (e *versionExpected[T]) String() string {
	return fmt.Sprintf("informer %s: version %s, is at %q", e.informer.name, e.waiter.version, e.informer.ResourceVersion())
}

// departureExpected is met when reads reflect that an object is deleted. It is
// expected of a version that the object is known to have had, since before that
// the informer may not have seen it come into being.
type departureExpected[T index.Object] struct {
	versionExpected[T]

	uid    types.UID
	waiter departureWaiter
}

func (i *Informer[T]) expectDeparture(obj Identified) (expected, error) {
	if err := i.canReach(obj.GetResourceVersion()); err != nil {
		return nil, err
	}
	e := &departureExpected[T]{uid: obj.GetUID()}
	e.informer = i
	e.versionExpected.waiter.version = obj.GetResourceVersion()
	e.waiter.key = index.Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}
	var none T
	if _, ok := any(none).(uidGetter); !ok {
		return nil, fmt.Errorf("informer %s: deletion of %q not expected: objects of type %T have no method GetUID", i.name, e.waiter.key, none)
	}
	if e.uid == "" {
		return nil, fmt.Errorf("informer %s: deletion of %q not expected: %w", i.name, e.waiter.key, errNoUID)
	}
	return e, nil
}

var errNoUID = errors.New("the object has no UID")

func (e *departureExpected[T]) met() bool {
	if e.informer.isStopped() {
		return true
	}
	if !e.versionExpected.met() {
		return false
	}
	obj, ok := e.informer.Get(e.waiter.key)
	return !ok || any(obj).(uidGetter).GetUID() != e.uid || isBeingDeleted(obj)
}

// isBeingDeleted reports whether an object is marked as deleted, and will be
// gone when that has taken its course.
func isBeingDeleted[T index.Object](obj T) bool {
	mortal, ok := any(obj).(interface{ GetDeletionTimestamp() *metav1.Time })
	return ok && mortal.GetDeletionTimestamp() != nil
}

func (e *departureExpected[T]) begin(look func()) {
	e.waiter.changed = look
	e.informer.departures.add(&e.waiter)
	e.versionExpected.begin(look)
}

func (e *departureExpected[T]) end() {
	e.informer.departures.remove(&e.waiter)
	e.versionExpected.end()
}

func (e *departureExpected[T]) covers(other expected) bool {
	o, ok := other.(*departureExpected[T])
	return ok && o.uid == e.uid && e.versionExpected.covers(&o.versionExpected)
}

func (e *departureExpected[T]) String() string {
	return fmt.Sprintf("informer %s: deletion of %q with UID %s, is at %q", e.informer.name, e.waiter.key, e.uid, e.informer.ResourceVersion())
}
