package adapters

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/answers"
	"github.com/kubetyped/informer/typed/source"
)

// follow returns the Follower of the source, which stands between it and its sink.
func (s *reflectorSource[T]) follow(ctx context.Context, sink source.Sink[T], lw *listerWatcher) *answers.Follower[T] {
	// Objects of the Reflector are not transformed at the same time as an answer.
	s.transform = oneAtATime(new(sync.Mutex), s.transform)
	queue := newReflectorQueue(s, sink, lw)
	lw.relists = true
	follower := answers.Follow(ctx, s.writing.Answers, answers.Config[T]{
		Sink: sink, Partial: s.writing.Partial, Held: s.typedHeld, Relist: lw.relist,
		Decode: func(mediaType string, kind schema.GroupVersionKind, text []byte) (obj T, err error) {
			untyped, err := s.writing.Decode(mediaType, kind, text)
			if err != nil {
				return obj, err
			}
			if s.packed != nil {
				untyped = s.packed.Keep(mediaType, untyped, text)
			}
			if obj, err = queue.admit(untyped); err == nil {
				s.watchOver(obj)
				s.metrics.add(queueChange)
			}
			return obj, err
		},
	})
	s.ahead.Store(follower)
	return follower
}

// oneAtATime returns a transform, which may be nil, that is called with a lock.
func oneAtATime(mu *sync.Mutex, transform cache.TransformFunc) cache.TransformFunc {
	if transform == nil {
		return nil
	}
	return func(obj any) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		return transform(obj)
	}
}

// refuse returns an error for a handler that must not be added.
func (s *reflectorSource[T]) refuse(handler any) error {
	switch {
	case s == nil:
	case s.writing != nil && s.writing.Refuse != nil:
		return s.writing.Refuse(handler)
	case s.spaces != nil && s.spaces.Refuse != nil:
		return s.spaces.Refuse(handler)
	}
	return nil
}

// typedHeld returns what the store has of a key.
func (s *reflectorSource[T]) typedHeld(key index.Key) (obj T, ok bool) {
	if s.held == nil {
		return obj, false
	}
	untyped, ok := s.held(key)
	if !ok {
		return obj, false
	}
	obj, err := s.typed(untyped)
	return obj, err == nil
}

// Ahead implements source.Leading.
func (s *reflectorSource[T]) Ahead() (keys int, highest uint64) {
	if follower := s.ahead.Load(); follower != nil {
		return follower.Ahead()
	}
	return 0, 0
}
