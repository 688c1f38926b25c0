package reference

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// Source is a source of the objects that owners hold by name. It is made by NewSource, for
// one informer. Its methods are safe for concurrent use, and do not wait for the server.
//
//  1. A key is followed while an owner holds it, and for the idle time after, see WithIdle,
//     which begins with the last use and not before the first answer.
//  2. A key is pending, present, absent since a version, or refused with an error, see State:
//     none is ever reported as another. So "not found" means that a server has said so. Ask
//     Get: reads and events of the informer are of present objects alone.
//  3. A key never goes back to an older state, even if it was released in between, or is
//     listed by another API server that lags. A list that is older than earlier reports is
//     asked for again, for 30 s. Then the history is another one, as after a restore.
//  4. The resource version is the lowest of all watches, and can be a minute behind. Each key
//     is in one state of the store, but two keys need not be of one moment.
//     typed.Informer.WaitForKeyVersion waits for one key.
//  5. The informer is synced when each key that was held at the start has an answer, of which
//     refused is one. Get waits for its key alone, until that changes before the sync.
//  6. A list and a failure concern their key alone, see KeyError.
//  7. An object whose key is released, and idle for long enough, is deleted with the reason
//     index.OutOfScope. One whose key is held later is added with the reason index.Relisted.
//  8. The first list belongs to the source: a Get whose context ends takes nothing from others.
//
// List, Len and the indexes of the informer are of the objects that are held and present. A
// read by key finds nothing when its idle time is over: hold the key, or use Get.
type Source[O comparable, T index.Object] struct {
	keys[T]

	rooms     atomic.Int64
	liveReads atomic.Uint64
	owners    map[owner[O]]*holding // guarded by mu
}

// owner is who holds keys: one of the program's, or a parent of From, of which each call has
// other owners.
type owner[O comparable] struct {
	of   O
	room int64 // 0: the program's
}

// holding is what an owner holds.
type holding struct {
	keys   map[index.Key]struct{}
	unheld []Refusal
}

// keys are the keys that a source follows.
type keys[T index.Object] struct {
	open  func(index.Key) source.Source[T]
	idle  time.Duration
	limit int
	err   error // what was wrong with the arguments

	origin   atomic.Pointer[source.Origin]
	floor    atomic.Pointer[string] // the highest version that a watch has reached
	opened   source.Opened[T]
	watchers watchers
	calling  callers
	wake     chan struct{} // the loop of Run has something to do
	ended    chan struct{} // Run has ended

	mu       sync.Mutex
	started  bool                    // guarded by mu
	over     bool                    // guarded by mu: ended is closed
	all      map[index.Key]*entry[T] // guarded by mu
	todo     []*entry[T]             // guarded by mu: to be run, or ended if they are gone
	room     bool                    // guarded by mu: there is some since it was last looked at
	waitRoom int                     // guarded by mu: keys that From could not hold
}

// entry is one key, from when it is held until it is dropped. Its fields are guarded by mu.
type entry[T index.Object] struct {
	key      index.Key
	src      source.Source[T] // the first one
	holders  int
	gone     bool
	state    State
	reported bool          // its first state, to Watch
	version  string        // that its watch has reached, and was reported
	failure  error         // that lasts
	since    time.Time     // when it began
	known    chan struct{} // closed when there is an answer, and reads of the informer reflect it
	early    *answer[T]    // until the informer is synced; nil: there is none
	heard    chan struct{} // closed when early is set for the first time
	hear     sync.Once     // closes it
	last     time.Time     // when idle began
	timer    *time.Timer   // looks whether idle is over; nil: none does
}

// answer is what was listed of a key before the informer was synced. It is never changed.
type answer[T index.Object] struct {
	state State
	items []source.Staged
}

// Option sets up a Source.
type Option func(*config) error

type config struct {
	idle  time.Duration
	limit int
}

// The idle time and the limit unless they are set.
const (
	defaultIdle  = 5 * time.Minute
	defaultLimit = 1000
)

// WithIdle sets for how long a key is followed after its last owner has released it, 5
// minutes by default. With 0 it is dropped at once.
func WithIdle(d time.Duration) Option {
	return func(c *config) error {
		if d < 0 {
			return fmt.Errorf("WithIdle: the time is %s; give 0 or more", d)
		}
		c.idle = d
		return nil
	}
}

// WithLimit sets how many keys may be followed, those that are idle included; 1,000 by
// default. Each is a watch of the API server, and a stream of a connection.
func WithLimit(names int) Option {
	return func(c *config) error {
		if names < 1 {
			return fmt.Errorf("WithLimit: %d names; give 1 or more", names)
		}
		c.limit = names
		return nil
	}
}

// NewSource returns a source of what owners of type O hold by name. It follows nothing until
// something is held:
//
//	secrets := reference.NewSource[index.Key](func(k index.Key) source.Source[*corev1.Secret] {
//		return kube.FromREST[*corev1.Secret](config, kube.WithName(k))
//	})
//	informer := typed.NewInformer(secrets)
//
// of returns what follows the object of one key. It is called by Hold and Get for a key that
// is not followed yet, and again if its list has to be asked for again; possibly by several
// goroutines. One of package kube without kube.WithName is an error of Hold: no other objects
// are ever listed. Objects of other keys are left out as a source.RejectedError.
//
// An informer takes its name before a key is held, so name several by typed.WithName. If an
// argument cannot be used, Hold, Get and typed.Informer.Run return an error.
func NewSource[O comparable, T index.Object](of func(index.Key) source.Source[T], opts ...Option) *Source[O, T] {
	c := config{idle: defaultIdle, limit: defaultLimit}
	var errs []error
	if of == nil {
		errs = append(errs, errors.New("NewSource: function is nil"))
	}
	errs = append(errs, argument.ApplyOptions(&c, opts))
	s := &Source[O, T]{owners: map[owner[O]]*holding{}}
	s.keys.open, s.keys.idle, s.keys.limit, s.keys.err = of, c.idle, c.limit, errors.Join(errs...)
	s.all = map[index.Key]*entry[T]{}
	s.wake, s.ended = make(chan struct{}, 1), make(chan struct{})
	s.watchers.wake, s.watchers.at = make(chan struct{}, 1), map[index.Key]int{}
	if s.err != nil {
		s.err = fmt.Errorf("references: %w", s.err)
	}
	return s
}

// Origin implements source.Located: it is that of the first key, without its name.
func (s *keys[T]) Origin() source.Origin {
	if from := s.origin.Load(); from != nil {
		return *from
	}
	return source.Origin{}
}

// Omits implements source.Partial.
func (s *keys[T]) Omits(field string) bool { return s.opened.Omits(field) }

// Ahead implements source.Leading.
func (s *keys[T]) Ahead() (keys int, highest uint64) { return s.opened.Ahead() }

// DerivedFrom implements source.Derived.
func (s *keys[T]) DerivedFrom() []source.Derived { return []source.Derived{&s.opened} }

// At implements source.Versions.
func (s *keys[T]) At(key index.Key) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.all[key]; e != nil {
		return e.version
	}
	return ""
}

// Run implements source.Source.
func (s *Source[O, T]) Run(ctx context.Context, sink source.Sink[T]) error {
	if s.err != nil {
		return s.err
	}
	s.mu.Lock()
	again := s.started
	s.started = true
	s.mu.Unlock()
	if again {
		return fmt.Errorf("references: the source has one informer, and runs for it already or has run: %w", typed.ErrStarted)
	}
	g := newGroup(ctx, &s.keys, sink)
	defer s.end()
	g.followers.Go(func() { s.watchers.run(g.ctx) })
	for first := true; ; first = false {
		g.step(first)
		s.retry()
		select {
		case <-s.wake:
		case <-ctx.Done():
			g.end()
			return nil
		}
	}
}

// end ends calls that wait, after Run.
func (s *keys[T]) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	close(s.ended)
	for _, e := range s.all {
		if e.timer != nil {
			e.timer.Stop()
		}
	}
}

// callers are the goroutines that call functions of the informer's, such as a transform.
type callers struct {
	mu  sync.Mutex
	ids map[uint64]int // guarded by mu
}

// enter notes that the calling goroutine is one until leave is called.
func (c *callers) enter() (leave func()) {
	id := goroutine.ID()
	c.add(id, 1)
	return func() { c.add(id, -1) }
}

func (c *callers) add(id uint64, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ids == nil {
		c.ids = map[uint64]int{}
	}
	if c.ids[id] += n; c.ids[id] == 0 {
		delete(c.ids, id)
	}
}

// has reports whether the calling goroutine is one.
func (c *callers) has() bool {
	id := goroutine.ID()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ids[id] > 0
}
