// Package observer defines the hooks between an informer and its observers: budgets, metrics,
// histories and others in package observe. Its model is httptrace.ClientTrace. Without
// observers, an informer compares one pointer where it would call a hook.
package observer

import (
	"context"
	"iter"
	"reflect"
	"time"
	"unsafe"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// Observer observes informers; it may be given to several.
type Observer interface {
	// Observe returns what an informer is to call. It is called once for each, when that is
	// made; an error is one of the arguments of NewInformer.
	Observe(o Observed) (Hooks, error)
	// Option is the name of the option, for errors, such as "WithBudget".
	Option() string
	// Same reports whether two are alike. A factory shares an informer only then.
	Same(other Observer) bool
	// Alone reports whether it is for one informer, so that NewFactory refuses it.
	Alone() bool
	// After returns one observer that replaces an earlier one and this, nil if both observe.
	// See Latest.
	After(earlier Observer) Observer
}

// Observed is an informer that is observed. Its methods may be called at any time, except
// Context, which needs a running informer; none panics after a release.
type Observed interface {
	Name() string
	// Origin is where its objects come from, and Created the line that has made it.
	Origin() source.Origin
	Created() report.CallSite
	// Type is that of its objects.
	Type() reflect.Type
	// Shared reports whether it is an informer of a factory.
	Shared() bool
	// Context is that of Run, for logging.
	Context() context.Context
	IsSynced() bool
	// Len is how many objects there are, and Queued how many changes wait.
	Len() int
	Queued() int
	Object(key index.Key) (obj Object, ok bool)
	EstimateHeap(sample int) report.Heap
	// End ends Run, which returns the cause.
	End(cause error)
}

// Object is an object of an informer, whatever its type.
type Object interface {
	GetName() string
	GetNamespace() string
}

// Hooks are what an informer calls. Each may be nil. Unless it says otherwise, it is called by
// the informer's own goroutine without a lock, and a panic is reported by
// utilruntime.HandleCrash.
type Hooks struct {
	// Run is called by a goroutine of Run, which waits for it.
	Run func(ctx context.Context)
	// Listing is called by the source while a list comes, with the number of objects.
	Listing func(received int)
	// Batch is called around a batch of changes, and calls apply; a second call of that
	// does nothing.
	Batch func(changes int, apply func())
	// Storing is called before a write of the store, and its result after the write, even if
	// that panics.
	Storing func(w *Write) (settled func())
	// Stored is called after a write that has changed the store.
	Stored func(w *Write)
	// Published is called with the informer's lock when n events were published.
	Published func(n int, event func(n int) report.Event)
	// Reached is called when the store has come to a version.
	Reached func(version string)
	// Handler is called by the goroutine of a handler before anything else.
	Handler func(name string) HandlerHooks
	// Status adds to a report on the informer, and Explain to one on a key. They are called
	// by the goroutine that asks.
	Status  func(s *report.Status)
	Explain func(key index.Key, k *report.Key)
	// Released is called when the objects are.
	Released func()
}

// HandlerHooks are called by the goroutine of a handler, except Status. All are nil, or none.
type HandlerHooks struct {
	// Begin and End are called before and after each call of the handler.
	Begin func(t index.EventType, key index.Key)
	End   func()
	// Idle is called when something else than a call may take time from now on.
	Idle func()
	// Left is called last.
	Left func()
	// Status adds to a report on the handler. It is called by the goroutine that asks.
	Status func(s *report.Handler)
}

// Write is one write of the store. It is valid while the hook runs.
type Write struct {
	// Objects are the written objects, without deletions and without those whose methods
	// panic.
	Objects iter.Seq2[index.Key, Object]
	// Slowest calls the index functions for an object once more, each by itself, and returns
	// the name of the one that took longest.
	Slowest func(obj Object) (name string, took time.Duration)
	// Took is how long the write has taken. It is known after it.
	Took time.Duration
}

// Latest returns o if the earlier observer is one of its kind: then the later one counts.
func Latest[O Observer](o O, earlier Observer) Observer {
	if _, ok := earlier.(O); ok {
		return o
	}
	return nil
}

// SameFunction reports whether two functions, of any type, are one value: the same
// code, with the same variables. Go compares no functions, and reflect compares
// their code alone, which is the same for all that one function returns. What an
// interface holds of a function is a pointer to both.
func SameFunction(a, b any) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&a))[1] == (*[2]unsafe.Pointer)(unsafe.Pointer(&b))[1]
}

// OnStored returns an observer that has a function called after each write of the store.
func OnStored(call func()) Observer { return Of(Hooks{Stored: func(*Write) { call() }}) }

// Of returns an observer with hooks, of one informer. It is no other observer's equal.
func Of(hooks Hooks) Observer { return &only{hooks} }

type only struct{ hooks Hooks }

func (o *only) Observe(Observed) (Hooks, error) { return o.hooks, nil }
func (o *only) Option() string                  { return "WithObserver" }
func (o *only) Same(other Observer) bool        { return o == other }
func (o *only) Alone() bool                     { return true }
func (o *only) After(Observer) Observer         { return nil }
