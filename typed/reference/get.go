package reference

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// Get reads a key from the informer of a source, once the state of the key is known. It holds
// the key while it waits and reads, and the idle time begins after that. Callers that wait for
// one key wait for one list.
//
// It returns false without an error only if the server has said that the object does not
// exist. The error says
//   - why the key is refused, or its object cannot be used,
//   - that ctx has ended, and why there is no answer yet, if that is known,
//   - why Hold refuses the key,
//   - that the informer is another one, or has stopped (typed.ErrStopped),
//   - that Get would wait, and was called from a callback of the informer (ErrCallback).
//
// If the server has refused the watch after it has sent the object, Get returns the last state;
// see Source.State. The object is shared: do not modify it.
func Get[O comparable, T index.Object](ctx context.Context, s *Source[O, T], from *typed.Informer[T], key index.Key) (obj T, exists bool, err error) {
	if err := usable(s, from); err != nil {
		return obj, false, err
	}
	e, err := s.takeUnless(key, func() bool { return from.InCallback() || s.calling.has() })
	if err != nil {
		return obj, false, err
	}
	defer s.releaseAll([]*entry[T]{e})
	early, err := s.await(ctx, e, from.Synced())
	if err != nil {
		return obj, false, &KeyError{key, err}
	}
	if early != nil {
		return early.read(key)
	}
	state := s.State(key)
	if obj, exists, err = read(from, key); err != nil {
		return obj, false, &KeyError{key, err}
	}
	switch rejected := from.Rejected(key); {
	case exists:
		return obj, true, nil
	case state.Phase == Refused:
		return obj, false, &KeyError{key, fmt.Errorf("whether the object exists is not known: %w", opaque(state.Err))}
	case rejected != nil:
		return obj, false, &KeyError{key, rejected}
	}
	return obj, false, nil
}

// opaque hides that a server has answered a list with 404: it does not have the kind, and that
// must not be taken for an object that does not exist.
func opaque(err error) error {
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("the list is not served: %v", err)
	}
	return err
}

// takeUnless takes a key, unless its state is not known and the caller must not wait. It asks
// that last, since it takes longer than all else.
func (s *keys[T]) takeUnless(key index.Key, inCallback func() bool) (*entry[T], error) {
	e, err := s.retake(key, nil)
	if err != nil || e != nil && e.isKnown() {
		return e, err
	}
	switch {
	case inCallback():
		if e != nil {
			s.releaseAll([]*entry[T]{e})
		}
		return nil, &KeyError{key, ErrCallback}
	case e != nil:
		return e, nil
	}
	return s.take(key)
}

// isKnown reports whether reads of the informer reflect an answer.
func (e *entry[T]) isKnown() bool { return monitor.IsClosed(e.known) }

// usable returns an error if the informer is not that of the source.
func usable[O comparable, T index.Object](s *Source[O, T], from *typed.Informer[T]) error {
	switch {
	case s == nil:
		return errors.New("references: source is nil")
	case s.err != nil:
		return s.err
	case from == nil:
		return errors.New("references: informer is nil")
	case !slices.Contains(from.DerivedFrom(), source.Derived(s)):
		return fmt.Errorf("references: the informer %s is not that of the source", from.Name())
	}
	return from.Err()
}

// await waits until there is an answer for a key, in the informer or, while that is not synced,
// one that it returns.
func (s *keys[T]) await(ctx context.Context, e *entry[T], synced <-chan struct{}) (early *answer[T], err error) {
	select {
	case <-e.known:
	case <-e.heard:
		if early = s.earlyOf(e, synced); early == nil { // reads will reflect it
			select {
			case <-e.known:
			case <-s.ended:
			case <-ctx.Done():
			}
		}
	case <-s.ended:
	case <-ctx.Done():
	}
	if monitor.IsClosed(s.ended) {
		return nil, fmt.Errorf("references: %w", typed.ErrStopped)
	}
	if early != nil {
		return early, nil
	}
	if e.isKnown() {
		return nil, nil
	}
	return nil, s.unanswered(context.Cause(ctx), e)
}

// earlyOf returns the answer for a key that there is before the informer is synced.
func (s *keys[T]) earlyOf(e *entry[T], synced <-chan struct{}) *answer[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if monitor.IsClosed(synced) {
		return nil
	}
	return e.early
}

// unanswered returns why there is no answer for a key.
func (s *keys[T]) unanswered(cause error, e *entry[T]) error {
	s.mu.Lock()
	since, err, started := e.since, e.failure, s.started
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("waited for its first list: %w; its requests fail since %s, lately with: %w", cause, since.Format("15:04:05"), opaque(err))
	}
	if !started {
		return fmt.Errorf("waited for its first list: %w; %w", cause, typed.ErrNotStarted)
	}
	return fmt.Errorf("waited for its first list: %w", cause)
}

// read returns the object of an answer.
func (a *answer[T]) read(key index.Key) (obj T, exists bool, err error) {
	if objs, _, _ := source.Kept[T](a.items); len(objs) > 0 {
		return objs[0], true, nil
	}
	if a.state.Phase == Refused {
		return obj, false, &KeyError{key, fmt.Errorf("whether the object exists is not known: %w", opaque(a.state.Err))}
	}
	return obj, false, nil
}

// read returns the object of a key, and an error if the informer is released meanwhile.
func read[T index.Object](from *typed.Informer[T], key index.Key) (obj T, exists bool, err error) {
	defer recoverReleased(&err)
	obj, exists = from.Get(key)
	return obj, exists, nil
}

// recoverReleased is deferred by reads: the panic of one of a released informer becomes an error.
func recoverReleased(err *error) {
	if p := recover(); p != nil {
		released, ok := p.(error)
		if !ok || !errors.Is(released, index.ErrReleased) {
			panic(p)
		}
		*err = released
	}
}
