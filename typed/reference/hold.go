package reference

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// Hold makes an owner hold the given keys, and releases those that it held before and that are
// not among them. Without keys it releases all. It does not wait for the objects, and may be
// called before the informer runs.
//
// It returns an error and changes nothing
//   - for a key without a name, without a namespace if the kind has any, and with one if it has
//     none. Of kinds that client-go does not have, the source asks the server, and such a key
//     is refused,
//   - if the source of a key cannot be used, or selects by itself,
//   - if there were more names than the limit (ErrLimit),
//   - after the informer has stopped (typed.ErrStopped).
func (s *Source[O, T]) Hold(of O, keys ...index.Key) error {
	return s.hold(owner[O]{of: of}, keys, false)
}

// Forget ends the idle time of keys: those without an owner are dropped at once.
func (s *Source[O, T]) Forget(keys ...index.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		if e := s.all[key]; e != nil && e.holders == 0 && !s.over {
			s.drop(e)
		}
	}
}

// hold is Hold. If it is tolerant, it holds all keys but those that it cannot, which it keeps
// in mind, and returns what was wrong with these.
func (s *Source[O, T]) hold(by owner[O], keys []index.Key, tolerant bool) error {
	wanted := sets.New(keys...)
	entries, unheld, err := s.takeAll(wanted)
	switch {
	case s.err != nil:
		return s.err
	case err != nil && !tolerant:
		s.releaseAll(entries)
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.owners[by]
	delete(s.owners, by)
	if len(wanted) > 0 {
		h := &holding{keys: make(map[index.Key]struct{}, len(entries)), unheld: unheld}
		for _, e := range entries {
			h.keys[e.key] = struct{}{}
		}
		s.owners[by] = h
		s.waitRoom += len(unheld)
	}
	if before != nil {
		s.waitRoom -= len(before.unheld)
		for key := range before.keys {
			s.release(s.all[key])
		}
	}
	return err
}

// takeAll takes each of some keys. It returns those that it could take, and the errors of the
// others.
func (s *keys[T]) takeAll(wanted sets.Set[index.Key]) (taken []*entry[T], failed []Refusal, err error) {
	var errs []error
	for key := range wanted {
		e, err := s.take(key)
		if err != nil {
			errs = append(errs, err)
			failed = append(failed, Refusal{Key: key, Err: err, Since: time.Now()})
			continue
		}
		taken = append(taken, e)
	}
	return taken, failed, errors.Join(errs...)
}

func (s *keys[T]) releaseAll(entries []*entry[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		s.release(e)
	}
}

// take holds a key once more.
func (s *keys[T]) take(key index.Key) (*entry[T], error) {
	if s.err != nil {
		return nil, s.err
	}
	if key.Name == "" {
		return nil, &KeyError{key, errors.New("the key has no name")}
	}
	if e, err := s.retake(key, nil); e != nil || err != nil {
		return e, err
	}
	src, err := s.make(key) // which calls a function of the user's, so without a lock
	if err != nil {
		return nil, &KeyError{key, err}
	}
	return s.retake(key, src)
}

// retake holds a key once more that is followed, or follows it with a source, if there is
// one.
func (s *keys[T]) retake(key index.Key, src source.Source[T]) (*entry[T], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil, &KeyError{key, fmt.Errorf("references: %w", typed.ErrStopped)}
	}
	e := s.all[key]
	if e == nil {
		if err := s.checkLimit(); err != nil {
			return nil, &KeyError{key, err}
		}
		if src == nil {
			return nil, nil
		}
		e = &entry[T]{key: key, src: src, state: State{Phase: Pending}, known: make(chan struct{}), heard: make(chan struct{})}
		s.all[key] = e
		s.tend(e)
	}
	e.holders++
	return e, nil
}

// checkLimit returns an error if no other key can be followed. The caller holds mu.
func (s *keys[T]) checkLimit() error {
	if len(s.all) < s.limit {
		return nil
	}
	held := 0
	for _, e := range s.all {
		if e.holders > 0 {
			held++
		}
	}
	return fmt.Errorf("%w: %d are held and %d idle, and the limit is %d; raise it by WithLimit, release some, shorten WithIdle, or use an informer of all objects",
		ErrLimit, held, len(s.all)-held, s.limit)
}

// make makes the source of a key, and checks it.
func (s *keys[T]) make(key index.Key) (src source.Source[T], err error) {
	err = goroutine.Contain(context.Background(), "the function that makes sources", func() error {
		src = s.open(key)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if src == nil {
		return nil, errors.New("the function that makes sources has returned nil")
	}
	if named, ok := src.(source.Named); ok {
		of, err := named.Named()
		if err != nil {
			return nil, err
		}
		if of != key {
			return nil, fmt.Errorf("the function that makes sources has returned one of the object %s", of)
		}
	}
	if s.origin.Load() == nil {
		from := source.OriginOf(src)
		from.Namespace, from.Selection = "", "by name"
		s.origin.Store(&from)
	}
	return src, nil
}

// release holds a key once less. The caller holds mu.
func (s *keys[T]) release(e *entry[T]) {
	if e.holders--; e.holders > 0 {
		return
	}
	e.last = time.Now()
	s.rest(e)
}

// rest drops a key when it was idle for long enough, which begins when there is an answer.
// The caller holds mu.
func (s *keys[T]) rest(e *entry[T]) {
	switch {
	case e.holders > 0 || e.gone || s.over:
	case !s.started || e.state.known() && s.idle == 0:
		s.drop(e)
	case e.state.known() && e.timer == nil:
		e.timer = time.AfterFunc(s.idle, func() { s.expire(e) })
	}
}

// expire drops a key if idle is over, which is decided here, with the lock that Hold takes.
func (s *keys[T]) expire(e *entry[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch left := s.idle - time.Since(e.last); {
	case e.gone || s.over:
	case e.holders > 0:
		e.timer = nil
	case left > 0:
		e.timer.Reset(left)
	default:
		s.drop(e)
	}
}

// drop ends to follow a key. The caller holds mu.
func (s *keys[T]) drop(e *entry[T]) {
	e.gone = true
	if e.timer != nil {
		e.timer.Stop()
	}
	delete(s.all, e.key)
	s.room = true
	if e.reported {
		s.watchers.add(e.key, State{}, false)
	}
	s.tend(e)
}

// tend makes the loop of Run begin to follow a key, or end that. The caller holds mu.
func (s *keys[T]) tend(e *entry[T]) {
	if !s.started {
		return // it begins with all
	}
	s.todo = append(s.todo, e)
	monitor.Wake(s.wake)
}

// setState notes what is known of a key, now that reads of the informer reflect it.
func (s *keys[T]) setState(e *entry[T], state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.gone {
		return
	}
	first := !e.state.known()
	e.state, e.early = state, nil
	if first {
		close(e.known)
		if e.holders == 0 {
			e.last = time.Now()
			s.rest(e)
		}
	}
	if !e.gone {
		e.reported = true
		s.watchers.add(e.key, state, first)
	}
}
