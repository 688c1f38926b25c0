package typed

import (
	"context"
	"errors"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/kubetyped/informer/index"
)

// SourceOption sets up a source that lists and watches.
type SourceOption func(*sourceConfig) error

type sourceConfig struct {
	labels      labels.Selector // nil: all
	fields      fields.Selector // nil: all
	noWatchList bool
}

// WithLabelSelector makes the server send only the objects whose labels match.
func WithLabelSelector(selector labels.Selector) SourceOption {
	return func(c *sourceConfig) error {
		if selector == nil {
			return errors.New("the label selector is nil")
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
			return errors.New("the field selector is nil")
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
// watch ends, and lists again when that version is no longer available. After
// a failure it waits as long as the Reflector does in client-go's informers:
// 0.8 s at first, doubling up to 30 s, each with a random addition of up to the
// same again.
//
// Every failure of a list or of the start of a watch is reported to the
// informer. So is each object that is not a T, which is then left out.
func FromListerWatcher[T index.Object](lw cache.ListerWatcher, opts ...SourceOption) Source[T] {
	s := &reflectorSource[T]{lw: lw}
	var errs []error
	if lw == nil {
		errs = append(errs, errors.New("the ListerWatcher is nil"))
	}
	for _, opt := range opts {
		if opt == nil {
			errs = append(errs, errors.New("a source option is nil"))
		} else if err := opt(&s.config); err != nil {
			errs = append(errs, err)
		}
	}
	s.err = errors.Join(errs...)
	return s
}

// reflectorSource is a Source on top of a cache.Reflector.
type reflectorSource[T index.Object] struct {
	lw     cache.ListerWatcher
	config sourceConfig
	err    error // what was wrong with the arguments
}

// Waits between attempts, as in client-go's reflector.go.
const (
	backoffInit  = 800 * time.Millisecond
	backoffMax   = 30 * time.Second
	backoffReset = 2 * time.Minute
)

// Run implements Source.
func (s *reflectorSource[T]) Run(ctx context.Context, sink Sink[T]) error {
	if s.err != nil {
		return s.err
	}
	lw := newSupervisedListerWatcher(s.lw, s.config, sink.Report, sink.Progress)
	defer lw.close()
	logger := klog.FromContext(ctx)
	name := reflect.TypeFor[T]().String()
	store := &reflectorStore[T]{sink: sink, name: name, streamed: lw.countStreamed}
	reflector := cache.NewReflectorWithOptions(lw, nil, store, cache.ReflectorOptions{
		Name:            "typed.Informer",
		TypeDescription: name,
		Logger:          &logger,
	})

	backoff := wait.Backoff{Duration: backoffInit, Cap: backoffMax, Steps: 38, Factor: 2, Jitter: 1}
	delay := backoff.DelayWithReset(clock.RealClock{}, backoffReset)
	for {
		if err := reflector.ListAndWatchWithContext(ctx); err != nil && ctx.Err() == nil {
			lw.ended(err)
		}
		timer := time.NewTimer(delay())
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}
