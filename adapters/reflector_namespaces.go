package adapters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// of returns the source of an informer: s, or one that has a source for each namespace of a
// set. All of these have the settings of s, whose transform they call one at a time.
func (s *reflectorSource[T]) of() source.Source[T] {
	if s.spaces == nil {
		return s
	}
	if err := s.spaces.Err; err != nil {
		return endedSource[T]{err}
	}
	return source.FromNamespaces(s.spaces.Set, s.inNamespace)
}

// endedSource is a source that cannot run.
type endedSource[T index.Object] struct{ err error }

// Run implements source.Source.
func (e endedSource[T]) Run(context.Context, source.Sink[T]) error { return e.err }

// Stay implements source.Scoped.
func (e endedSource[T]) Stay(string) (uint64, error) { return 0, e.err }

// runBeside does until end is called what the sources of namespaces do not do by themselves.
func (s *reflectorSource[T]) runBeside(ctx context.Context) (end func()) {
	s.metrics.start()
	ctx, cancel := context.WithCancel(ctx)
	detected := s.detect(ctx)
	var resyncing sync.WaitGroup
	if s.resyncCheck > 0 {
		resyncing.Go(func() { s.resyncInTime(ctx) })
	}
	return func() {
		cancel()
		resyncing.Wait()
		detected()
	}
}

// resyncInTime looks from time to time whether a resync is due, until ctx ends.
func (s *reflectorSource[T]) resyncInTime(ctx context.Context) {
	ticker := time.NewTicker(s.resyncCheck)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if s.shouldSync() {
				s.resync()
			}
		}
	}
}

// inNamespace returns the source of a namespace.
func (s *reflectorSource[T]) inNamespace(namespace string) source.Source[T] {
	lw, writing, packing := unwrap(s.spaces.In(namespace))
	own := &reflectorSource[T]{
		conversion:  s.conversion,
		name:        s.name,
		lw:          lw,
		example:     s.example,
		description: s.description,
		detector:    s.detector,
		transform:   oneAtATime(&s.transforming, s.transform),
		onError:     s.onError,
		metrics:     s.metrics,
		writing:     writing,
		packing:     packing,
		held:        s.held,
		cancelLists: true,
	}
	return &namespaceSource[T]{own}
}

// namespaceSource is the source of one namespace of several.
type namespaceSource[T index.Object] struct{ *reflectorSource[T] }

// Run implements source.Source.
func (s *namespaceSource[T]) Run(ctx context.Context, sink source.Sink[T]) error {
	s.onError = reportTo(sink.Report, s.onError)
	return s.listAndWatch(ctx, sink)
}

// reportTo returns an error handler that reports errors, which the informer logs, and then calls
// another one, if there is one. The informer does not wait for a namespace that it may not list.
func reportTo(report func(error), next cache.WatchErrorHandlerWithContext) cache.WatchErrorHandlerWithContext {
	return func(ctx context.Context, r *cache.Reflector, err error) {
		switch {
		case isUsual(err):
		case apierrors.IsForbidden(err):
			report(fmt.Errorf("%w: %w", source.ErrPassedOver, err))
		default:
			report(err)
		}
		switch {
		case next != nil:
			next(ctx, r, err)
		case isUsual(err):
			cache.DefaultWatchErrorHandler(ctx, r, err)
		}
	}
}

// isUsual reports whether a watch has ended as watches do.
func isUsual(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || errors.Is(err, io.EOF)
}
