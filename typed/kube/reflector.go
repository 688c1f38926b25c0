package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/answers"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/typed/source"
)

// SourceOption sets up a source that lists and watches.
type SourceOption func(*sourceConfig) error

type sourceConfig struct {
	labels      labels.Selector // nil: all
	fields      fields.Selector // nil: all
	name        *index.Key      // of the one object; nil: any
	shards      string          // of which hashes, "": all
	noWatchList bool
	requests    requestConfig
	budget      *ListBudget // nil: none
	writes      *Writes     // nil: they come by the watch
	lead        *lead       // that own writes have; nil without writes
	rest        restConfig
}

// newSourceConfig applies the options of a source.
func newSourceConfig(opts []SourceOption) (sourceConfig, error) {
	var config sourceConfig
	var errs []error
	for _, opt := range opts {
		if opt == nil {
			errs = append(errs, errors.New("source option is nil"))
		} else if err := opt(&config); err != nil {
			errs = append(errs, err)
		}
	}
	errs = append(errs, config.applyName())
	return config, errors.Join(errs...)
}

// WithLabelSelector makes the server send only the objects whose labels match.
func WithLabelSelector(selector labels.Selector) SourceOption {
	return func(c *sourceConfig) error {
		if selector == nil {
			return errors.New("WithLabelSelector: selector is nil")
		}
		c.labels = selector
		return nil
	}
}

// WithFieldSelector makes the server send only the objects whose fields match.
// Which fields a resource can be selected by is up to the server, which refuses
// others.
func WithFieldSelector(selector fields.Selector) SourceOption {
	return func(c *sourceConfig) error {
		if selector == nil {
			return errors.New("WithFieldSelector: selector is nil")
		}
		c.fields = selector
		return nil
	}
}

// WithoutWatchList makes the source get its objects by a list, even where they
// could be streamed.
func WithoutWatchList() SourceOption {
	return func(c *sourceConfig) error {
		c.noWatchList = true
		return nil
	}
}

// FromListerWatcher returns a source that lists and watches with lw, by
// client-go's cache.Reflector: it begins with a list, streamed if lw does not
// rule that out, watches from there, watches again from the last version when a
// watch ends, and lists again when that version is no longer available.
//
// It waits before it tries again, so that a server in trouble is spared; every
// wait is random, up to a limit:
//
//  1. While the server cannot be reached at all, the limit is 0.1 s at first and grows by a
//     tenth with every attempt, up to 30 s. So the source is back within about a fifth of the
//     time that the server was away. It continues from the version that it has, without a
//     list.
//  2. Where the server answers that it cannot serve the request, or no longer has the version
//     to continue from, the limit is 0.8 s at first and doubles, up to 30 s. The client obeys
//     a Retry-After of the server first.
//  3. Either begins again with what worked: a request that was answered for the first, a list
//     and watch that continued for more than 30 s for the second.
//
// WithBackoff sets other limits.
//
// Streamed lists that do not end are given up, see GuardListerWatcher.
//
// Every failure of a list or of the start of a watch is reported to the
// informer; so are watches that end with an error, or without an event, again and
// again, and each object that is not a T, which is then left out.
func FromListerWatcher[T index.Object](lw cache.ListerWatcher, opts ...SourceOption) source.Source[T] {
	s := newReflectorSource[T](lw, source.Origin{}, opts)
	if s.config.writes != nil {
		s.err = errors.Join(s.err, errors.New("WithWrites is for FromREST and FromClient, which know how objects are decoded"))
	}
	return s
}

func newReflectorSource[T index.Object](lw cache.ListerWatcher, from source.Origin, opts []SourceOption) *reflectorSource[T] {
	config, err := newSourceConfig(opts)
	s := &reflectorSource[T]{lw: lw, origin: from, config: config, err: errors.Join(err, config.rest.misplaced(), config.rest.undecoded())}
	if lw == nil {
		s.err = errors.Join(errors.New("ListerWatcher is nil"), s.err)
	}
	if packedIn(reflect.TypeFor[T]()) != nil {
		s.err = errors.Join(fmt.Errorf("objects of type %v come without bytes: Packed is for FromREST", reflect.TypeFor[T]()), s.err)
	}
	if s.err == nil && config.name != nil {
		_, s.err = s.Named()
	}
	return s
}

// reflectorSource is a Source on top of a cache.Reflector.
type reflectorSource[T index.Object] struct {
	lw     cache.ListerWatcher
	config sourceConfig
	origin source.Origin // as far as it is known from lw
	// reportsWatches is set if lw itself reports that a watch was opened.
	reportsWatches bool
	decodeAnswer   answers.Decode[T] // nil: as client-go decodes
	err            error             // what was wrong with the arguments
}

// The limits of waits, see FromListerWatcher.
const (
	growthUnreachable = 1.1
	firstRefused      = 800 * time.Millisecond
	growthRefused     = 2
	longestWait       = 30 * time.Second
)

// errWatchesEnd is reported when a source waits although no request has failed.
var errWatchesEnd = errors.New("watches end with an error, or at once, again and again; the objects are listed again after a backoff")

// lastReport passes reports on and remembers the last failure to list or watch,
// until there is a watch again.
type lastReport[T index.Object] struct {
	source.Forwarder[T]
	arrived func() // called with each progress of a list

	mu  sync.Mutex
	err error // guarded by mu
}

// Progress implements [source.Sink].
func (s *lastReport[T]) Progress(received, expected int) {
	s.arrived()
	s.To.Progress(received, expected)
}

// Report implements [source.Sink].
func (s *lastReport[T]) Report(err error) {
	if _, ok := source.AsRejected(err); !ok {
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
	}
	s.To.Report(err)
}

// explain adds the last failure to errWatchesEnd, if there was one.
func (s *lastReport[T]) explain() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil || errors.Is(s.err, errWatchesEnd) {
		return cmp.Or(s.err, errWatchesEnd)
	}
	return fmt.Errorf("%w: %w", errWatchesEnd, s.err)
}

// Run implements Source.
func (s *reflectorSource[T]) Run(ctx context.Context, sink source.Sink[T]) error {
	if s.err != nil {
		return s.err
	}
	return s.run(ctx, &lastReport[T]{Forwarder: source.Forwarder[T]{To: sink}})
}

// run lists and watches until ctx ends, or own writes cannot be followed.
func (s *reflectorSource[T]) run(ctx context.Context, sink *lastReport[T]) error {
	config, err := s.followed(sink.To)
	if err != nil {
		return err
	}
	if config == nil {
		s.listAndWatch(ctx, sink, sink.To, &rounds{})
		return nil
	}
	r := &rounds{}
	config.Relist = r.end
	follower := answers.Follow(ctx, s.config.writes.answers, *config)
	ahead := follower.Ahead
	s.config.lead.of.Store(&ahead)
	var taking sync.WaitGroup
	taking.Go(follower.Run)
	s.listAndWatch(follower.Context(), sink, follower, r)
	follower.Close()
	taking.Wait()
	return follower.Err()
}

// rounds are the lists, each with its watches, of a source.
type rounds struct {
	current atomic.Pointer[context.CancelFunc]
}

// begin returns the context of the next round.
func (r *rounds) begin(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	r.current.Store(&cancel)
	return ctx, cancel
}

// end ends a round, so that the next one begins.
func (r *rounds) end() {
	if cancel := r.current.Load(); cancel != nil {
		(*cancel)()
	}
}

// listAndWatch lists and watches until ctx ends, and has to report objects to a sink.
func (s *reflectorSource[T]) listAndWatch(ctx context.Context, sink *lastReport[T], to source.Sink[T], r *rounds) {
	guarded := GuardListerWatcher(s.lw, sink.Report)
	guarded.lists.silence, guarded.leavesWaits = cmp.Or(s.config.rest.silence, defaultSilence), true
	defer guarded.Wait()
	lw := newRetryingListerWatcher(guarded, s.config, sink.Report, sink.Progress)
	lw.reportsWatches = s.reportsWatches
	sink.arrived = lw.turn.goOn
	defer lw.close()
	logger := klog.FromContext(ctx)
	name := reflect.TypeFor[T]().String()
	// Changes and lists need not pass through lastReport, which only takes note of reports.
	store := &reflectorStore[T]{sink: to, streamed: lw.countStreamed, listed: lw.turn.giveBack}
	reflector := cache.NewReflectorWithOptions(listerWatcher(lw), nil, store, cache.ReflectorOptions{
		Name:            "typed.Informer",
		TypeDescription: name,
		Logger:          &logger,
		// For the one failure that the Reflector still waits after by itself: a
		// watch that was opened and then ends with 429. A streamed list does so
		// without regard to the context, hence no wait is long.
		Backoff: &wait.Backoff{
			Duration: s.config.requests.refused().first, Factor: 2, Steps: 10, Jitter: 1,
			Cap: min(5*time.Second, s.config.requests.longest()),
		},
	})

	reflector.WatchListPageSize = s.config.requests.pageSize

	between := s.config.requests.refused()
	for ctx.Err() == nil {
		begin := time.Now()
		round, end := r.begin(ctx)
		err := goroutine.Contain(ctx, "list and watch", func() error { return reflector.ListAndWatchWithContext(round) })
		again := round.Err() != nil
		end()
		if time.Since(begin) > between.last {
			between.reset()
		}
		switch {
		case ctx.Err() != nil:
		case again:
			continue
		case err != nil:
			lw.ended(err)
		case between.isRepeated(): // what ended the watch is in the Reflector's log
			lw.report(&source.RequestError{Watch: true, Err: sink.explain()})
		}
		between.wait(ctx)
	}
}
