package adapters

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/adapters/internal/listwatch"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/answers"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// reflectorSource is a source that lists and watches as client-go's shared
// informers do: by the very same cache.Controller and cache.Reflector, so that
// back-off, error handlers, resync ticks and logs are theirs. Only streamed lists are
// given up that do not end, see kube.GuardListerWatcher. Its fields are set before it runs.
type reflectorSource[T index.Object] struct {
	conversion[T]

	name        string
	lw          cache.ListerWatcher
	example     runtime.Object
	description string
	detector    cache.MutationDetector
	transform   cache.TransformFunc                // nil: none
	onError     cache.WatchErrorHandlerWithContext // nil: client-go's
	resyncCheck time.Duration                      // how often shouldResync is asked; 0: never
	shouldSync  func() bool                        // whether resync is to be called
	resync      func()
	metrics     *metrics              // nil: none
	writing     *listwatch.Writing    // nil: own writes come by the watch
	packing     *listwatch.Packing    // nil: objects are whole
	packed      listwatch.Decoding    // set when it runs; nil: objects are whole
	spaces      *listwatch.Namespaces // nil: it is of no set of namespaces
	cancelLists bool                  // lists end with the source
	held        func(index.Key) (metav1.Object, bool)

	controller atomic.Pointer[cache.Controller]    // nil before Run
	ahead      atomic.Pointer[answers.Follower[T]] // nil: no own writes are followed

	transforming sync.Mutex // held by the source of a namespace that calls transform
}

// Omits implements source.Partial.
func (s *reflectorSource[T]) Omits(field string) bool {
	partial, ok := s.lw.(interface{ Omits(field string) bool })
	return ok && partial.Omits(field)
}

// Run implements source.Source.
func (s *reflectorSource[T]) Run(ctx context.Context, sink source.Sink[T]) error {
	s.metrics.start()
	defer s.detect(ctx)()
	return s.listAndWatch(ctx, sink)
}

// detect looks for objects that were modified until end is called.
func (s *reflectorSource[T]) detect(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var detecting sync.WaitGroup
	detecting.Go(func() { s.detector.Run(ctx.Done()) })
	return func() {
		cancel()
		detecting.Wait()
	}
}

// listAndWatch reports what it lists and watches to sink, until ctx ends.
func (s *reflectorSource[T]) listAndWatch(ctx context.Context, sink source.Sink[T]) error {
	inner, wait := s.listerWatcher(ctx)
	defer wait()
	guarded := kube.GuardListerWatcher(inner, sink.Report)
	defer guarded.Wait()
	lw := newListerWatcher(guarded)
	if s.writing == nil {
		s.run(ctx, sink, lw)
		return nil
	}
	follower := s.follow(ctx, sink, lw)
	var taking sync.WaitGroup
	taking.Go(follower.Run)
	s.run(follower.Context(), follower, lw)
	follower.Close()
	taking.Wait()
	return follower.Err()
}

// run lists and watches until ctx ends.
func (s *reflectorSource[T]) run(ctx context.Context, sink source.Sink[T], lw *listerWatcher) {
	if s.cancelLists {
		lw.lists = ctx
	}
	controller := cache.New(&cache.Config{
		Queue:                        newReflectorQueue(s, sink, lw),
		ListerWatcher:                lw,
		ObjectType:                   s.expected(),
		ObjectDescription:            s.described(),
		FullResyncPeriod:             s.resyncCheck,
		ShouldResync:                 s.shouldSync,
		WatchErrorHandlerWithContext: s.onError,
	})
	s.controller.Store(&controller)
	controller.RunWithContext(ctx)
}

// listerWatcher returns the ListerWatcher, and a function that waits until its watches have
// ended. Objects are decoded here where that can be. They are deduplicated only if there is no
// transform, which might modify them. If they are not though the program asks for it, the log
// says why.
func (s *reflectorSource[T]) listerWatcher(ctx context.Context) (lw cache.ListerWatcher, wait func()) {
	if s.packing != nil {
		return s.packingListerWatcher(ctx)
	}
	decodable, ok := s.lw.(*listwatch.Decodable)
	if !ok {
		return s.lw, func() {}
	}
	held := s.held
	if s.transform != nil {
		held = nil
	}
	lw, wait, err := decodable.Decoding(held)
	if err == nil && s.transform != nil {
		err = errTransformed
	}
	if err != nil && decodable.Deduplicates {
		klog.FromContext(ctx).V(2).Info("Deduplication is off", "informer", s.name, "reason", err)
	}
	return lw, wait
}

// errTransformed is the reason why objects with a transform function are not deduplicated.
var errTransformed = errors.New("a transform function may modify them; have fields left out where objects are decoded, see kube.WithoutFields")

// lastVersion returns the version that the Reflector has come to, "" before it
// runs.
func (s *reflectorSource[T]) lastVersion() string {
	controller := s.controller.Load()
	if controller == nil {
		return ""
	}
	return (*controller).LastSyncResourceVersion()
}
