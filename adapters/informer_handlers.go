package adapters

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/kubetyped/informer/typed"
)

// minResync is the shortest resync period, as in client-go
// (minimumResyncPeriod in shared_informer.go).
const minResync = time.Second

// AddEventHandler implements cache.SharedInformer.
func (s *informer[T]) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod implements cache.SharedInformer.
func (s *informer[T]) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, period time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{ResyncPeriod: &period})
}

// AddEventHandlerWithOptions implements cache.SharedInformer. It returns an
// error if the informer has stopped or the handler is nil.
func (s *informer[T]) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	if handler == nil {
		return nil, fmt.Errorf("%s: %w", s.name, errNilHandler)
	}
	if err := s.source.refuse(handler); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return s.add(&untypedHandler[T]{s.conversion, handler}, handlerName(handler), options)
}

// AddTypedEventHandler implements cache.TypedSharedIndexInformer. It returns an
// error if the informer has stopped, the handler is nil, or there is more than
// one cache.HandlerOptions.
func (s *informer[T]) AddTypedEventHandler(handler cache.TypedResourceEventHandler[T], options ...cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	if handler == nil {
		return nil, fmt.Errorf("%s: %w", s.name, errNilHandler)
	}
	switch len(options) {
	case 0:
		options = []cache.HandlerOptions{{}}
	case 1:
	default:
		return nil, fmt.Errorf("%s: at most one HandlerOptions can be given, not %d", s.name, len(options))
	}
	return s.add(&typedHandler[T]{s.conversion, handler}, handlerName(handler), options[0])
}

var errNilHandler = errors.New("handler is nil")

// add adds a handler.
func (s *informer[T]) add(handler typed.Handler[T], name string, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	l := &listener[T]{
		informer: s.typed,
		handler:  handler,
		logger:   ptr.Deref(options.Logger, klog.Background()),
		syncing:  true,
		synced:   make(chan struct{}),
		reached:  s.reached,

		staysInScope: s.source != nil && s.source.spaces != nil && !s.source.spaces.OutOfScope,
	}
	l.checker = &doneChecker{s.name + " + event handler " + name, l.synced} // as in client-go
	var log notes
	err := s.join(l, name, ptr.Deref(options.ResyncPeriod, s.defaultResync), &log)
	log.write(l.logger)
	if errors.Is(err, typed.ErrStopped) {
		return nil, stoppedError(name)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// stoppedError is the error for a handler, by name, that came after the informer had stopped. Its
// text is client-go's, and it wraps typed.ErrStopped.
type stoppedError string

func (e stoppedError) Error() string {
	return "handler " + string(e) + " was not added to shared informer because it has stopped already"
}

func (stoppedError) Unwrap() error { return typed.ErrStopped }

// join adds a listener that asks for resyncs at a period.
func (s *informer[T]) join(l *listener[T], name string, period time.Duration, log *notes) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	handlerOptions := []typed.HandlerOption{typed.WithHandlerName(name), typed.WithOnSynced(l.onSynced)}
	if s.source == nil {
		handlerOptions = append(handlerOptions, typed.WithResync(max(period, 0))) // client-go takes a negative one
	} else {
		l.requested = s.requestedPeriod(log, period)
		l.period = possiblePeriod(log, l.requested, s.resyncCheck)
		l.next = time.Now().Add(l.period)
	}
	if l.registration, err = s.typed.Handle(l, handlerOptions...); err == nil && s.source != nil {
		s.listeners[l] = struct{}{}
	}
	return err
}

// notes are lines for a log that are written when no lock is held: what takes
// them is the user's, and may call the informer.
type notes []note

type note struct {
	message string
	values  []any
}

func (n *notes) add(message string, values ...any) { *n = append(*n, note{message, values}) }

func (n *notes) write(logger klog.Logger) {
	for _, line := range *n {
		logger.Info(line.message, line.values...)
	}
}

// requestedPeriod returns the period that counts as what a handler asks for. If
// the informer has not been started, it may shorten the intervals at which the
// informer looks whether a resync is due. The caller holds mu.
func (s *informer[T]) requestedPeriod(log *notes, period time.Duration) time.Duration {
	if period <= 0 {
		return period
	}
	if period < minResync {
		log.add("Warning: the resync period is too short, and is made longer", "resyncPeriod", period, "minimum", minResync)
		period = minResync
	}
	switch {
	case period >= s.resyncCheck:
	case s.started:
		log.add("Warning: the resync period is shorter than that of the informer, which was started already, and is made longer", "resyncPeriod", period, "resyncCheckPeriod", s.resyncCheck)
		period = s.resyncCheck
	default:
		s.resyncCheck = period
		for other := range s.listeners {
			other.period = possiblePeriod(log, other.requested, period)
		}
	}
	return period
}

// possiblePeriod returns the period that a handler gets if the informer looks at intervals of
// check whether a resync is due, or never if check is 0.
func possiblePeriod(log *notes, requested, check time.Duration) time.Duration {
	switch {
	case requested == 0:
		return 0
	case check == 0:
		log.add("Warning: there are no resyncs, as the informer was made without them", "resyncPeriod", requested)
		return 0
	case requested < check:
		log.add("Warning: the resync period is shorter than that of the informer, and is made longer", "resyncPeriod", requested, "resyncCheckPeriod", check)
		return check
	}
	return requested
}

// shouldResync finds out for which handlers a resync is due, and reports whether
// there are any. It is called by the Reflector at intervals of resyncCheck.
func (s *informer[T]) shouldResync() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, some := time.Now(), false
	for l := range s.listeners {
		if l.look(now) {
			some = true
		}
	}
	return some
}

// resync resyncs the handlers for which it is due. As in client-go, a resync is an update of
// each object to itself, so the other handlers receive the objects without a version, too.
func (s *informer[T]) resync() {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.hasUnversioned()
	for l := range s.listeners {
		if l.due || all {
			l.registration.Resync()
		}
	}
}

// hasUnversioned reports whether the store has an object without a version, which only a
// transform can have made. Objects of one type T all have a version, or never have.
func (s *informer[T]) hasUnversioned() bool {
	for obj := range s.typed.All() {
		if named, ok := any(obj).(*namedObject); ok && !named.versioned {
			return true
		}
	}
	return false
}

// RemoveEventHandler implements cache.SharedInformer. It does not wait for a call that is in
// progress. It returns an error if handle is not one that an informer of this package has
// returned; one that was removed before is fine.
func (s *informer[T]) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	l, ok := handle.(*listener[T])
	if !ok {
		return fmt.Errorf("%s: invalid key type %T: it is not the registration of one of its handlers", s.name, handle)
	}
	if l.informer != s.typed { // several shapes can have the same
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
	l.registration.Remove()
	return nil
}
