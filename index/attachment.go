package index

import (
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
)

// ErrIndexInUse is returned by AddIndexes for an index that belongs to another Indexer,
// unless that was released.
var ErrIndexInUse = errors.New("the index has been added to another indexer: release that first, or add a Clone")

// ErrNotAdded means that an index belongs to no Indexer. A lookup in it panics with an error
// that wraps ErrNotAdded. Call AddIndexes first.
var ErrNotAdded = errors.New("the index was not added, see AddIndexes")

var errNilIndex = errors.New("index: a nil index was added: make it with New, Single, Labels or NewOrdered")

// attachment is what ties an index to an Indexer.
type attachment[T Object] struct {
	name  string
	claim atomic.Pointer[Indexer[T]] // who adds it, or has added it
	owner atomic.Pointer[Indexer[T]] // set when look-ups can begin
}

// Name returns the name that the index was made with.
func (a *attachment[T]) Name() string { return a.name }

// claimFor claims the index for an indexer, and fails if it cannot be used.
func (a *attachment[T]) claimFor(to *Indexer[T], hasFunction bool, constructors string) error {
	switch {
	case a.name == "":
		return fmt.Errorf("index: an index over %v has no name", reflect.TypeFor[T]())
	case !hasFunction:
		return fmt.Errorf("index: index %q has no function: make it with %s", a.name, constructors)
	}
	for {
		by := a.claim.Load()
		if by != nil && !by.letGoOf(a) {
			return fmt.Errorf("index %q: %w", a.name, ErrIndexInUse)
		}
		if a.claim.CompareAndSwap(by, to) {
			return nil
		}
	}
}

// letGoOf ends look-ups in an index if x was released, and reports whether it was.
func (x *Indexer[T]) letGoOf(a *attachment[T]) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.released {
		a.owner.CompareAndSwap(x, nil)
	}
	return x.released
}

func (a *attachment[T]) detach() {
	a.owner.Store(nil)
	a.claim.Store(nil)
}

func (a *attachment[T]) publish(owner *Indexer[T]) { a.owner.Store(owner) }

// mustOwner returns the indexer of the index, for a look-up. It panics if there is
// none.
func (a *attachment[T]) mustOwner(read string) *Indexer[T] {
	owner := a.owner.Load()
	if owner == nil {
		panic(notAddedError[T](read, a.name))
	}
	return owner
}

// mustBelongTo panics if the index was taken from an indexer after mustOwner has
// returned that. The caller holds the indexer's mu, so it is not taken from then on.
func (a *attachment[T]) mustBelongTo(owner *Indexer[T], read string) {
	if a.owner.Load() != owner {
		panic(notAddedError[T](read, a.name))
	}
}

func notAddedError[T Object](read, name string) error {
	return fmt.Errorf("index: %s in index %q, objects of type %v: %w", read, name, reflect.TypeFor[T](), ErrNotAdded)
}
