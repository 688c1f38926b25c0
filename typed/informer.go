package typed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/internal/eventlog"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// Informer keeps a local copy of the objects of a Source, and calls handlers for every change.
//
//  1. Order. A handler receives the events of one key in watch order, and all events in the
//     order in which the store changed. Handlers are independent of each other.
//  2. Store first. When a handler receives an event, a read of that key returns the event's
//     object or a newer state; indexes agree with the store in every read.
//  3. Every change is delivered exactly once to each handler, unless the handler chose
//     another Delivery.
//  4. Initial list. Every object of the initial list comes as an addition marked initial.
//     Synced is closed when the store holds all of them, and Registration.Synced when the
//     handler has returned from the last.
//  5. Late handlers get the current objects as additions marked initial, then every later
//     event, without gap or duplicate.
//  6. Relist. A later list is compared with the store: missing objects are deleted, new ones
//     added, and the rest updated, even if unchanged (but see WithChangedOnly and
//     WithRecreation).
//  7. Removal. After Registration.Close the handler is not called again.
//  8. Stop. When Run returns, none of the informer's goroutines is left, and waiting calls
//     have returned. Stopping never looks like deletion: reads, indexes and listers return
//     the last state. Three things free its memory: Release, the release of the last
//     SharedInformer of a Factory's informer, and the garbage collector, when the program no
//     longer refers to the informer or its indexes. Reads after a release never say "not
//     found": methods that return an error return one that wraps index.ErrReleased, and
//     others panic with it.
//  9. Reads take a lock for a moment that does not depend on the number of objects; they do
//     not delay the writer. Each sees one consistent state.
//  10. Transform once. A transform is called once for each object received.
//  11. Versions. ResourceVersion is never ahead of reads, except for rejected objects, which
//     Rejected and Status report.
//  12. Errors. WaitForSync, EventStream.Err and Status report the current error, and since
//     when. No object is rejected silently, see source.RejectedError.
//  13. Panics of a handler are reported by utilruntime.HandleCrash. If that does not crash,
//     the next event is delivered, and an object for which an index function panics is
//     rejected, see source.RejectedError. A handler that ends its goroutine is removed
//     (ErrExited).
//  14. Resync delivers an update of every object to the handlers that requested it, each at
//     its own period.
//
// Run starts a goroutine that writes to the store, and one for each handler. The source runs
// on the goroutine that calls Run, and may start others, such as a decoder for each processor.
// All methods are safe for concurrent use. Objects are shared: do not modify them.
//
// NewInformer makes informers: a zero Informer cannot be used.
type Informer[T index.Object] struct {
	access[T]
	config
	err       error // what was wrong with the arguments of NewInformer
	source    source.Source[T]
	origin    source.Origin // of the source of a SharedInformer that was released
	transform func(T) (T, error)
	store     *index.Indexer[T]
	deltas    *queue.DeltaFIFO[T]
	log       *eventlog.Log[T]

	health    health
	versions  versions
	lists     lists // since which expectations may have missed something
	deletions deletions
	byKey     keyVersions
	lastEvent atomic.Int64 // Unix time in nanoseconds; 0: none
	contact   atomic.Int64 // the same; when the source last reported anything
	relists   atomic.Int64
	published atomic.Int64 // how many events there were
	progress

	created report.CallSite
	holders *uses // of a factory's informer; nil: it is not one
	meter   source.Meter
	hooks   hooks                       // nil: not observed; set before Run
	ending  atomic.Pointer[func(error)] // ends Run

	looping  atomic.Uint64 // the goroutine that applies changes; 0: none yet
	released atomic.Bool   // set with mu held
	joint    goroutine.Joint

	synced  chan struct{} // closed with mu held
	stopped chan struct{} // closed with mu held

	mu        sync.Mutex      // held while a batch is applied and published
	phase     atomic.Uint32   // a Phase; changed with mu held
	ctx       context.Context // of Run, for logging; nil before
	ended     bool            // nothing is left of Run, or it will not be called
	cause     error           // why Run ended; set before stopped is closed
	listeners sharedList[*listener[T]]
	handled   int // guarded by mu; how many listeners were added
	followers followerList[T]
	limit     atomic.Int32   // of events that a Block handler has room for (0: none); changed with mu held
	calling   sync.WaitGroup // the goroutines that call handlers
}

// NewInformer returns an informer for the objects of src. It does nothing
// until Run is called; handlers and indexes can be added before and after.
//
// If an option or the source cannot be used, every method that returns an error
// returns what is wrong, and reads find nothing; an index cannot be added, and so
// look-ups in it panic.
func NewInformer[T index.Object](src source.Source[T], opts ...Option) *Informer[T] {
	if v := reflect.ValueOf(src); v.Kind() == reflect.Pointer && v.IsNil() {
		src = nil // its methods would panic; those of a nil slice may not
	}
	i := &Informer[T]{
		config:  config{name: nameOf[T](source.OriginOf(src))},
		source:  src,
		deltas:  queue.NewDeltaFIFO[T](),
		log:     eventlog.New[T](),
		created: report.Caller(),
		synced:  make(chan struct{}),
		stopped: make(chan struct{}),
	}
	var errs []error
	if src == nil {
		errs = append(errs, errors.New("source is nil"))
	}
	errs = append(errs, argument.ApplyOptions(&i.config, opts))
	if i.grace > 0 && !i.shared {
		errs = append(errs, errors.New("WithGrace is for informers of a factory, give it to NewFactory, Share or For: this one runs until the context of Run ends"))
	}
	transform, err := transformOf[T](&i.config)
	errs = append(errs, err)
	i.transform = transform
	store, err := indexerOf[T](&i.config)
	errs = append(errs, err)
	i.store = store
	i.refer(i)
	errs = append(errs, i.observe(i.observers))
	if err := errors.Join(errs...); err != nil {
		i.err = fmt.Errorf("informer %s: %w", i.name, err)
	}
	return i
}

// check returns an error if nothing can be asked of the informer: what was wrong
// with the arguments of NewInformer, or index.ErrReleased.
func (i *Informer[T]) check() error {
	switch {
	case i.err != nil:
		return i.err
	case i.released.Load():
		return fmt.Errorf("informer %s: %w", i.name, index.ErrReleased)
	}
	return nil
}

// Name returns the informer's name: that of WithName, or else the type of its objects with
// their origin, as far as its source knows it when the informer is made: resource, namespace,
// selectors, and the API server's host.
//
//	*v1.Pod in shop labels app=web at 10.0.0.1:6443
//
// It is for people, and its form may change; Status has the same in parts.
func (a *access[T]) Name() string { return a.followed().name }

// GroupResource returns what errors call the objects, as client-go's listers do, such as
// "deployment" of "apps"; it is zero if the informer's source does not know. Package
// lister asks for it.
func (a *access[T]) GroupResource() schema.GroupResource {
	return groupResourceOf(a.followed().located())
}

// located returns where the objects come from.
func (i *Informer[T]) located() source.Origin {
	if i.source == nil {
		return i.origin
	}
	return source.OriginOf(i.source)
}

// Indexer returns the indexer that was given by WithIndexer, nil without that.
func (i *Informer[T]) Indexer() *index.Indexer[T] {
	indexer, _ := i.indexer.(*index.Indexer[T])
	return indexer
}

// AddIndexes adds indexes, and fills them if there are objects already. It may
// be called at any time; see index.Indexer.AddIndexes for errors. After the
// informer has stopped it returns ErrStopped.
func (a *access[T]) AddIndexes(indexes ...index.Definition[T]) error {
	i := a.followed()
	if err := i.check(); err != nil {
		return err
	}
	if i.isStopped() {
		return fmt.Errorf("informer %s: index not added: %w", i.name, ErrStopped)
	}
	if err := i.checkIndexes(indexes); err != nil {
		return err
	}
	var before []index.Definition[T]
	unlessReleased(func() { before = i.store.Indexes() })
	if err := i.store.AddIndexes(indexes...); err != nil {
		return fmt.Errorf("informer %s: %w", i.name, err)
	}
	if err := i.checkIndexes(indexes); err != nil { // a source was opened meanwhile
		i.store.RemoveIndexes(slices.DeleteFunc(slices.Clone(indexes), func(x index.Definition[T]) bool {
			return slices.Contains(before, x) // others use it
		})...)
		return err
	}
	return nil
}

// checkIndexes returns an error if the source leaves out what an index needs.
func (i *Informer[T]) checkIndexes(indexes []index.Definition[T]) error {
	for _, x := range indexes {
		if argument.IsNil(x) {
			continue // the store returns the error
		}
		if err := i.checkNeeds(needsOf(x)); err != nil {
			return fmt.Errorf("informer %s: index %s not added: %w", i.name, x.Name(), err)
		}
	}
	return nil
}

// Indexes returns the indexes that were added and not removed. The slice is the
// caller's. As other reads, it panics after Release. A user of a SharedInformer who wants an
// index that others may have added uses index.Ensure.
func (a *access[T]) Indexes() []index.Definition[T] { return a.reads.Load().Indexes() }

// RemoveIndexes removes indexes, see index.Indexer.RemoveIndexes.
func (i *Informer[T]) RemoveIndexes(indexes ...index.Definition[T]) {
	i.store.RemoveIndexes(indexes...)
}

// Synced returns a channel that is closed when the store holds the first list. After the
// release of a SharedInformer it is one that is never closed.
func (a *access[T]) Synced() <-chan struct{} { return a.followed().synced }

// WaitForSync waits until Synced is closed. If ctx ends before, or the informer stops, it
// returns a *SyncError with the reason. It may be called before Run, and after the informer
// has stopped it returns an error in any case.
func (a *access[T]) WaitForSync(ctx context.Context) error {
	i, ctx, stop := a.within(ctx)
	defer stop()
	if err := i.check(); err != nil {
		return err
	}
	select {
	case <-i.synced:
	case <-i.stopped:
	case <-ctx.Done():
	}
	if i.isSynced() && !i.isStopped() {
		return nil
	}
	return i.syncError(ctx, nil)
}

// WaitForResourceVersion blocks until reads reflect resourceVersion, for example the version
// that a write returned. With a selector or a namespace this can take about a minute: the
// informer learns of other versions only from bookmarks.
//
// It returns
//   - nil when reads reflect the version,
//   - an error at once if resourceVersion is not a number, or if the informer has several
//     versions, as one on a view of several inputs,
//   - the error of ctx if ctx ends first,
//   - [ErrStopped] if the informer stops first.
//
// The last two also wrap the current list or watch error, or [ErrNotStarted].
func (a *access[T]) WaitForResourceVersion(ctx context.Context, resourceVersion string) error {
	i, ctx, stop := a.within(ctx)
	defer stop()
	if err := i.canReach(resourceVersion); err != nil {
		return err
	}
	reached := make(chan struct{})
	waiter := &versionWaiter{version: resourceVersion, reached: func() { close(reached) }}
	i.versions.add(waiter)
	defer i.versions.remove(waiter)
	if !atLeast(i.ResourceVersion(), resourceVersion) {
		select {
		case <-reached:
			if !i.isStopped() {
				return nil
			}
		case <-i.stopped:
		case <-ctx.Done():
		}
	}
	if at := i.ResourceVersion(); !atLeast(at, resourceVersion) {
		return i.withFailure(fmt.Errorf("informer %s: waited for resource version %s, is at %q: %w", i.name, resourceVersion, at, i.endOf(ctx)))
	}
	return nil
}

// Phase returns the stage that the informer is in. It takes no lock, so that it
// may be asked for from anywhere, an index function for example.
func (i *Informer[T]) Phase() report.Phase { return report.Phase(i.phase.Load()) }

// setPhase enters a stage. The caller holds mu.
func (i *Informer[T]) setPhase(p report.Phase) { i.phase.Store(uint32(p)) }

func (i *Informer[T]) isStopped() bool { return monitor.IsClosed(i.stopped) }
func (i *Informer[T]) isSynced() bool  { return monitor.IsClosed(i.synced) }

// syncError returns the reason why the informer, or the handler r unless it is nil, is not
// synced now that a wait for it has ended.
func (i *Informer[T]) syncError(ctx context.Context, r *Registration) error {
	var s report.Status
	i.health.fill(&s)
	e := &SyncError{Informer: i.name, Cause: i.endOf(ctx), Err: s.Err, Failures: s.Failures, Since: s.Since}
	if e.Cause == nil && r != nil {
		e.Cause = cmp.Or(r.Err(), ErrClosed)
	}
	if i.Phase() == report.PhaseNew {
		e.Err = ErrNotStarted
	}
	return e
}

// endOf returns the reason why a wait has ended before its condition was met: the cause of
// ctx's end, ErrStopped, or both.
func (i *Informer[T]) endOf(ctx context.Context) error {
	cause := context.Cause(ctx)
	if !i.isStopped() {
		return cause
	}
	for _, reason := range []error{i.cause, cause} {
		if reason != nil {
			return fmt.Errorf("%w: %w", ErrStopped, reason)
		}
	}
	return ErrStopped
}

// withFailure returns err, and what list and watch fail with, if they do, or
// ErrNotStarted.
func (i *Informer[T]) withFailure(err error) error {
	if i.Phase() == report.PhaseNew {
		return fmt.Errorf("%w; %w", err, ErrNotStarted)
	}
	var s report.Status
	i.health.fill(&s)
	switch {
	case s.Err == nil:
		return err
	case s.Failures > 0:
		return fmt.Errorf("%w; list or watch fails since %s (%d×), lately with: %w", err, s.Since.Format(time.RFC3339), s.Failures, s.Err)
	}
	return fmt.Errorf("%w; %w", err, s.Err)
}

// logger returns the logger of Run's context. Run has begun, and no lock is held:
// what takes the lines is the user's, and may call the informer.
func (i *Informer[T]) logger() klog.Logger { return klog.FromContext(i.ctx) }
