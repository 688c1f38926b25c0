package adapters

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/adapters/internal/listwatch"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/observer"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/observe"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// NewSharedIndexInformer is client-go's cache.NewSharedIndexInformer on top of a
// typed.Informer: change the package's name, and nothing else. The informer behaves as
// client-go's documentation says, and as its implementation does where that says nothing;
// docs/reference/differences.md lists the differences.
//
// Objects may be of any type, as there. With an example object, those that are
// of another type are left out, which the Reflector logs.
func NewSharedIndexInformer(lw cache.ListerWatcher, exampleObject runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return NewSharedIndexInformerWithOptions(lw, exampleObject, cache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: indexers})
}

// NewSharedInformer is client-go's cache.NewSharedInformer on top of a
// typed.Informer; see NewSharedIndexInformer.
func NewSharedInformer(lw cache.ListerWatcher, exampleObject runtime.Object, resync time.Duration) cache.SharedInformer {
	return NewSharedIndexInformer(lw, exampleObject, resync, cache.Indexers{})
}

// NewSharedIndexInformerWithOptions is client-go's
// cache.NewSharedIndexInformerWithOptions on top of a typed.Informer; see
// NewSharedIndexInformer. If options.Identifier is reserved, metrics go to
// options.InformerMetricsProvider, or to the provider that
// cache.SetInformerMetricsProvider has set, as there.
func NewSharedIndexInformerWithOptions(lw cache.ListerWatcher, exampleObject runtime.Object, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
	return newInformer(lw, exampleObject, fmt.Sprintf("%T", exampleObject), options, ofAny())
}

// NewTypedSharedIndexInformer returns an informer with client-go's methods, both the untyped
// and the typed ones, whose objects are kept as T from the moment that they are received: the
// typed methods need no cast, and cannot panic as those of cache.NewTypedSharedIndexInformer
// do for objects of another type. An object that is not a T is not stored, and reported.
func NewTypedSharedIndexInformer[T cache.Object](lw cache.ListerWatcher, options cache.SharedIndexInformerOptions) cache.TypedSharedIndexInformer[T] {
	return newInformer(lw, exampleOf[T](), reflect.TypeFor[T]().String(), options, ofType[T]())
}

// SharedIndexInformer returns a typed informer as one of client-go's, for code
// that wants that: handlers and indexes can be added by either. Both are the
// same informer, which runs once, by a call of either.
//
// Differences from an informer that this package makes: objects can be written through
// GetIndexer only if inf was made with typed.WithIndexer, and otherwise every write returns an
// error; SetTransform and the watch error handlers return an error, see typed.WithTransform
// and report.Status; and handlers are resynced exactly at the period that they ask for, with no
// default.
//
// If inf is nil, the methods that return an error return one, Run logs it, and reads find
// nothing.
func SharedIndexInformer[T cache.Object](inf *typed.Informer[T]) cache.TypedSharedIndexInformer[T] {
	if inf == nil {
		inf = typed.NewInformer[T](nil, typed.WithName(fmt.Sprintf("SharedIndexInformer(nil) of %v", reflect.TypeFor[T]())))
	}
	conv := ofType[T]()
	return &informer[T]{
		conversion: conv,
		typed:      inf,
		store:      newIndexer(inf, inf.Indexer(), inf.AddIndexes, conv),
		name:       "SharedIndexInformer " + inf.Name(),
		checker:    &doneChecker{"SharedIndexInformer " + inf.Name(), inf.Synced()},
		reached:    &reachedVersions{of: inf},
		listeners:  map[*listener[T]]struct{}{},
	}
}

// informer is a cache.TypedSharedIndexInformer on top of a typed.Informer.
type informer[T cache.Object] struct {
	conversion[T]

	typed   *typed.Informer[T]
	source  *reflectorSource[T] // nil: the informer was made elsewhere
	store   *indexer[T]
	name    string // in DoneCheckers
	checker *doneChecker
	reached *reachedVersions // nil: handlers get objects in the order of their versions

	mu            sync.Mutex // guards the fields of listeners, too
	started       bool       // guarded by mu
	defaultResync time.Duration
	resyncCheck   time.Duration             // guarded by mu; how often it is looked whether a resync is due
	listeners     map[*listener[T]]struct{} // guarded by mu; empty without a source: the informer resyncs them
}

func _[T cache.Object]() { var _ cache.TypedSharedIndexInformer[T] = (*informer[T])(nil) }

func newInformer[T cache.Object](lw cache.ListerWatcher, example runtime.Object, typeName string, options cache.SharedIndexInformerOptions, conv conversion[T]) *informer[T] {
	spaces, _ := lw.(*listwatch.Namespaces)
	lw, writing, packing := unwrap(lw)
	period := max(options.ResyncPeriod, 0) // a negative one would be over at once, again and again
	conv.packs = conv.anything && (packing != nil || spaces != nil && spaces.Packed)
	s := &informer[T]{
		conversion:    conv,
		name:          "SharedIndexInformer " + typeName,
		defaultResync: period,
		resyncCheck:   period,
		listeners:     map[*listener[T]]struct{}{},
	}
	s.source = &reflectorSource[T]{
		writing:     writing,
		packing:     packing,
		spaces:      spaces,
		conversion:  conv,
		name:        typeName,
		lw:          lw,
		example:     example,
		description: options.ObjectDescription,
		detector:    cache.NewCacheMutationDetector(typeName),
		shouldSync:  s.shouldResync,
		resync:      s.resync,
	}
	late := &latePanics[T]{}
	store := index.NewIndexer(index.WithLiteralEvents[T](), index.WithKeyStrings[T]())
	opts := []typed.Option{typed.WithName(typeName), typed.WithIndexer(store), typed.WithNameless(), typed.WithObserver(observer.OnStored(late.raise))}
	opts = s.observeReached(store, opts)
	measured := newMetrics(options.Identifier, options.InformerMetricsProvider)
	if measured != nil {
		opts = append(opts, observe.WithMetrics(measured))
	}
	s.source.metrics = measured
	s.source.held = func(key index.Key) (metav1.Object, bool) {
		obj, ok := store.Get(key)
		if !ok || s.keeps(obj) {
			stored, _ := any(obj).(metav1.Object)
			return stored, ok
		}
		untyped, _ := conv.untyped(obj) // only a kept object has an error
		object, isObject := untyped.(metav1.Object)
		return object, isObject
	}
	of := s.source.of()
	s.typed = typed.NewInformer(of, opts...)
	s.checker = &doneChecker{s.name, s.typed.Synced()}
	s.store = newIndexer(store, store, store.AddIndexes, conv)
	s.store.keyed = store
	if scoped, ok := of.(source.Scoped); ok {
		s.store.scope = &scope{scoped, spaces.NamespaceOf}
	}
	s.store.late, s.store.changed = late, measured.SetResourceVersion
	if err := s.store.AddIndexers(options.Indexers); err != nil {
		utilruntime.HandleError(fmt.Errorf("%s: indexers are not added: %w", s.name, err))
	}
	return s
}

// Run implements cache.SharedInformer.
func (s *informer[T]) Run(stopCh <-chan struct{}) {
	s.RunWithContext(wait.ContextForChannel(stopCh))
}

// RunWithContext implements cache.SharedInformer. A second call is logged, and
// returns at once.
func (s *informer[T]) RunWithContext(ctx context.Context) {
	s.mu.Lock()
	if s.started {
		s.mu.Unlock()
		klog.FromContext(ctx).Info("Warning: the informer was started before, and does not run twice", "informer", s.name)
		return
	}
	s.started = true
	if s.source != nil {
		s.source.resyncCheck = s.resyncCheck
	}
	s.mu.Unlock()
	if s.source != nil && s.source.spaces != nil {
		defer s.source.runBeside(ctx)()
	}
	if err := s.typed.Run(ctx); err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Informer does not run", "informer", s.name)
	}
}

// HasStarted reports whether the informer was started. It is in no interface,
// but client-go's informers have it.
func (s *informer[T]) HasStarted() bool { return s.typed.Phase() != report.PhaseNew }

// HasSynced implements cache.SharedInformer.
func (s *informer[T]) HasSynced() bool { return cache.IsDone(s.checker) }

// HasSyncedChecker implements cache.SharedInformer.
func (s *informer[T]) HasSyncedChecker() cache.DoneChecker { return s.checker }

// LastSyncResourceVersion implements cache.SharedInformer.
func (s *informer[T]) LastSyncResourceVersion() string {
	if s.source == nil || s.source.spaces != nil {
		return clientVersion(s.typed.ResourceVersion())
	}
	return s.source.lastVersion()
}

// IsStopped implements cache.SharedInformer.
func (s *informer[T]) IsStopped() bool { return s.typed.Phase() == report.PhaseStopped }

// GetStore implements cache.SharedInformer.
func (s *informer[T]) GetStore() cache.Store { return s.store }

// GetIndexer implements cache.SharedIndexInformer.
func (s *informer[T]) GetIndexer() cache.Indexer { return s.store }

// GetTypedIndexer implements cache.TypedSharedIndexInformer.
func (s *informer[T]) GetTypedIndexer() cache.TypedIndexer[T] { return s.store }

// AddIndexers implements cache.SharedIndexInformer. It returns an error if the
// informer has stopped; see indexer.AddIndexers for others.
func (s *informer[T]) AddIndexers(indexers cache.Indexers) error {
	if s.IsStopped() {
		return errIndexersTooLate
	}
	return s.store.AddIndexers(indexers)
}

// errIndexersTooLate is client-go's, to the word.
var errIndexersTooLate = errors.New("indexer was not added because it has stopped already")

// AddTypedIndexers implements cache.TypedSharedIndexInformer.
func (s *informer[T]) AddTypedIndexers(indexers cache.TypedIndexers[T]) error {
	if s.IsStopped() {
		return errIndexersTooLate
	}
	return s.store.AddTypedIndexers(indexers)
}

// SetTransform implements cache.SharedInformer. It returns an error after the
// informer was started.
func (s *informer[T]) SetTransform(transform cache.TransformFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkSource(); err != nil {
		return err
	}
	if transform != nil && s.packs {
		return fmt.Errorf("%s: %w", s.name, listwatch.ErrTransformed)
	}
	s.source.transform = transform
	return nil
}

// SetWatchErrorHandler implements cache.SharedInformer. It returns an error
// after the informer was started.
func (s *informer[T]) SetWatchErrorHandler(handler cache.WatchErrorHandler) error {
	return s.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) { handler(r, err) })
}

// SetWatchErrorHandlerWithContext implements cache.SharedInformer. It returns an
// error after the informer was started.
func (s *informer[T]) SetWatchErrorHandlerWithContext(handler cache.WatchErrorHandlerWithContext) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkSource(); err != nil {
		return err
	}
	s.source.onError = handler
	return nil
}

// checkSource returns an error if the source cannot be changed, or not any more. The
// caller holds mu.
func (s *informer[T]) checkSource() error {
	if s.source == nil {
		return fmt.Errorf("%s: transforms and error handlers belong to its source, which was given to typed.NewInformer", s.name)
	}
	if s.started {
		return errStarted
	}
	return nil
}

// errStarted is client-go's, to the word.
var errStarted = errors.New("informer has already started")

// GetController implements cache.SharedInformer.
func (s *informer[T]) GetController() cache.Controller { return controller[T]{s} }

// controller is what GetController returns. As in client-go, it shows the informer's state, and
// does not run the informer.
type controller[T cache.Object] struct{ informer *informer[T] }

func _[T cache.Object]() { var _ cache.Controller = controller[T]{} }

// RunWithContext does nothing.
func (controller[T]) RunWithContext(context.Context) {}

// Run does nothing.
func (controller[T]) Run(<-chan struct{}) {}

// HasSynced implements cache.Controller.
func (c controller[T]) HasSynced() bool { return c.informer.HasSynced() }

// HasSyncedChecker implements cache.Controller.
func (c controller[T]) HasSyncedChecker() cache.DoneChecker { return c.informer.HasSyncedChecker() }

// LastSyncResourceVersion implements cache.Controller. It is empty if client-go's
// feature gate InformerResourceVersion is off, as there.
func (c controller[T]) LastSyncResourceVersion() string {
	if !clientfeatures.FeatureGates().Enabled(clientfeatures.InformerResourceVersion) {
		return ""
	}
	return c.informer.LastSyncResourceVersion()
}
