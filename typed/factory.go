package typed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// ErrShutDown means that Shutdown of the Factory was called. Methods that need a running
// factory return it.
var ErrShutDown = errors.New("the factory was shut down")

// ErrFrozen means that a request would start a new informer after Freeze. Share returns it;
// request the informer before Freeze, or from another factory.
var ErrFrozen = errors.New("factory is frozen and has no such informer: request it before Freeze, or from another factory")

// Factory runs informers and shares each of them among its users. [Share], or kube.For for
// an API server, returns a [SharedInformer], a handle on one informer.
//
//  1. The first request for an informer starts it. Later requests with the same type and key
//     return a handle on the same informer, unless that has ended by itself.
//  2. When the last handle is released, and WithGrace has passed, the factory stops the
//     informer and frees its objects.
//  3. A later request starts a new informer, which lists again. It does not wait for the old
//     one to stop.
//
// Use one factory per cluster. Methods are safe for concurrent use. [Informer] says what reads
// return after a release.
type Factory struct {
	opts    []Option
	err     error           // what is wrong with opts
	ctx     context.Context // of all informers
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	values context.Context     // guarded by mu; what informers that start have besides ctx
	closed bool                // guarded by mu
	frozen bool                // guarded by mu
	shares map[shareKey]*share // guarded by mu; those that are in use
	failed []failedShare       // guarded by mu
}

// failedShare is an informer that has ended by itself and is in use. It does not keep its objects.
type failedShare struct {
	uses *uses
	err  error
}

// shareKey is what an informer of a factory is known by.
type shareKey struct {
	of  reflect.Type // of its objects
	key any          // that the caller gave
}

// share is one informer of a factory.
type share struct {
	informer anyInformer // the *Informer[T] of the type T in its key
	name     string      // which it has without WithName
	ctx      context.Context
	stop     context.CancelFunc
	grace    time.Duration // for which it keeps running without users
	asked    config        // what its own options say
	uses     *uses         // changed with mu of the factory held
	ended    bool          // guarded by mu of the factory
	wanted   chan struct{} // guarded by mu of the factory; closed when a user comes in the time of grace (nil: there is none)
}

// anyInformer is an Informer of whatever type of objects: what a factory asks of all
// its informers alike.
type anyInformer interface {
	AnyInformer
	Run(ctx context.Context) error
	Release() error
	WaitForSync(ctx context.Context) error
	isStopped() bool
}

// NewFactory returns a factory whose informers have the given options; those that
// depend on the type of the objects are best made for an interface:
//
//	typed.NewFactory(typed.WithTransform(kube.StripManagedFields[metav1.Object]))
//
// Options for a single informer (its name, indexer, metrics and functions between batches)
// belong to Share; given here, they make Share return an error. Package kube contains
// factories for a cluster.
func NewFactory(opts ...Option) *Factory {
	f := &Factory{opts: slices.Clone(opts), values: context.Background(), shares: map[shareKey]*share{}}
	f.err = refuseForAll(opts)
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f
}

// Share returns a use of the informer that the factory knows by the type of its objects
// and by key. If there is none, src makes its source, and it is started, with the
// options of the factory followed by opts:
//
//	type byNamespace string
//
//	pods, err := typed.Share(f, byNamespace("default"), func() source.Source[*corev1.Pod] {
//		return kube.FromClient(client.CoreV1().Pods("default"))
//	})
//	if err != nil {
//		return err
//	}
//	defer pods.Release()
//
// So the same key must mean the same source; with your own key type, as above, keys of other
// code cannot collide. The key should contain everything that the source depends on, such as
// resource, namespace, selectors and projection, except the type of the objects.
//
// The informer's name is the type of its objects, the key, and the API server's host. A
// key that is a struct or a pointer needs a String method for that; without one, the
// informer has the name that it has without a factory, see Informer.Name.
//
// Requests with the same key need the same opts; otherwise Share returns an error, instead of
// objects with an unexpected transform. Functions are the same if they are one value: keep it
// in a variable.
//
// Share returns an error if an option cannot be used, if src is nil or returns
// nil, if key holds a value that cannot be compared, and ErrShutDown after
// Shutdown. src must not use the factory.
func Share[T index.Object, K comparable](f *Factory, key K, src func() source.Source[T], opts ...Option) (*SharedInformer[T], error) {
	called := inWords(key)
	name := strings.TrimSpace(reflect.TypeFor[T]().String() + " " + called)
	switch {
	case f == nil:
		return nil, fmt.Errorf("informer %s: factory is nil", name)
	case f.err != nil:
		return nil, fmt.Errorf("informer %s: %w", name, f.err)
	case src == nil:
		return nil, fmt.Errorf("informer %s: source function is nil", name)
	case argument.CheckKey(key) != nil:
		return nil, fmt.Errorf("informer %s: a key of type %T cannot be compared", name, key)
	}
	at := shareKey{reflect.TypeFor[T](), key}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, fmt.Errorf("informer %s: %w", name, ErrShutDown)
	}
	s := f.shares[at]
	if s != nil && s.informer.isStopped() { // by itself, and is ending
		f.drop(at, s)
		s = nil
	}
	asked, err := applied(opts)
	if s != nil {
		if err != nil {
			return nil, fmt.Errorf("informer %s: %w", s.name, err)
		}
		if other := s.asked.differsIn(&asked); other != "" {
			return nil, fmt.Errorf("informer %s: it is in use with other options: %s is not the same", s.name, other)
		}
	}
	by := &use{report.Caller()}
	if s == nil {
		if f.frozen {
			return nil, fmt.Errorf("informer %s, asked for at %v: %w", name, by.asked, ErrFrozen)
		}
		shared := func(c *config) error { c.shared = true; return nil }
		from := src()
		name = sharedName[T](called, source.OriginOf(from))
		informer := NewInformer(from, slices.Concat([]Option{WithName(name), shared}, f.opts, opts)...)
		if informer.err != nil {
			return nil, informer.err
		}
		s = &share{informer: informer, name: name, asked: asked, grace: informer.grace, uses: newUses()}
		informer.holders = s.uses
		f.start(at, s)
	}
	s.uses.add(by)
	if s.wanted != nil {
		close(s.wanted)
		s.wanted = nil
	}
	return newSharedInformer(s.informer.(*Informer[T]), func() { f.release(at, s, by) }), nil
}

// Freeze makes Share fail from now on if it would start an informer, with ErrFrozen and the
// calling line: once a program has all informers, a later one is an accident of unknown size.
// Running informers can still be requested; a factory that is not frozen starts new ones. It
// may be called any number of times.
func (f *Factory) Freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frozen = true
}

// UseContext sets the values, such as the logger, of the contexts of informers that start from now
// on: those of ctx. They run on when ctx ends. In a simulation, use the context of the process:
// then the seed decides how long they wait, and the trace contains their messages.
func (f *Factory) UseContext(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.values = ctx
}

// valued is a context with the values of another one, too.
type valued struct {
	context.Context
	values context.Context
}

func (v valued) Value(key any) any {
	if value := v.Context.Value(key); value != nil {
		return value
	}
	return v.values.Value(key)
}

// start runs an informer. The caller holds mu.
func (f *Factory) start(at shareKey, s *share) {
	ctx, stop := context.WithCancel(valued{f.ctx, f.values})
	s.ctx, s.stop = ctx, stop
	f.shares[at] = s
	f.running.Go(func() {
		defer utilruntime.HandleCrashWithContext(ctx)
		defer stop()
		err := errSourceExited
		defer func() { f.ended(ctx, at, s, err) }()
		err = s.informer.Run(ctx)
	})
}

// ended notes that Run of an informer has ended, with an error or nil.
func (f *Factory) ended(ctx context.Context, at shareKey, s *share, err error) {
	f.forget(at, s)
	f.mu.Lock()
	s.ended = true
	f.mu.Unlock()
	f.letGo(s)
	if err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "An informer of a factory has ended", "informer", s.informer.Name())
	}
}

// release takes back one use of an informer.
func (f *Factory) release(at shareKey, s *share, by *use) {
	f.mu.Lock()
	s.uses.remove(by)
	last := s.uses.none()
	if last {
		f.failed = slices.DeleteFunc(f.failed, func(one failedShare) bool { return one.uses == s.uses })
	}
	if last && s.grace > 0 && !s.ended && !f.closed {
		last = false
		s.wanted = make(chan struct{})
		wanted := s.wanted
		f.running.Go(func() { goroutine.CallSafely(func() { f.linger(at, s, wanted) }) })
	}
	if last && f.shares[at] == s {
		delete(f.shares, at) // so that Share does not return it before its end
	}
	f.mu.Unlock()
	if last {
		f.end(s)
	}
}

// linger waits for the time of grace of an informer, and ends it unless it is wanted
// meanwhile.
func (f *Factory) linger(at shareKey, s *share, wanted chan struct{}) {
	timer := time.NewTimer(s.grace)
	defer timer.Stop()
	select {
	case <-wanted:
		return
	case <-s.ctx.Done():
		return
	case <-timer.C:
	}
	f.mu.Lock()
	over := s.wanted == wanted
	if over && f.shares[at] == s {
		delete(f.shares, at)
	}
	f.mu.Unlock()
	if over {
		f.end(s)
	}
}

// end stops an informer that has no users, and is not shared any more.
func (f *Factory) end(s *share) {
	s.stop()
	f.letGo(s)
}

// letGo releases an informer if it has ended and has no users.
func (f *Factory) letGo(s *share) {
	f.mu.Lock()
	over := s.ended && s.uses.none()
	f.mu.Unlock()
	if !over {
		return
	}
	if err := s.informer.Release(); err != nil {
		utilruntime.HandleErrorWithContext(s.ctx, err, "An informer of a factory is not released", "informer", s.informer.Name())
	}
}

// forget removes an informer from those that are shared.
func (f *Factory) forget(at shareKey, s *share) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shares[at] == s {
		f.drop(at, s)
	}
}

// drop is forget for an informer that is shared, and has ended by itself. The caller holds mu.
func (f *Factory) drop(at shareKey, s *share) {
	delete(f.shares, at)
	if !f.closed && !s.uses.none() {
		f.failed = append(f.failed, failedShare{s.uses, s.informer.WaitForSync(f.ctx)})
	}
}

// WaitForSync waits until every informer that is in use now is synced, all at the
// same time. It returns an error for each that is not, or has ended by itself, joined, see
// Informer.WaitForSync; one that is released meanwhile is not waited for. After
// Shutdown it returns ErrShutDown.
func (f *Factory) WaitForSync(ctx context.Context) error {
	f.mu.Lock()
	shares, failed, closed := f.sorted(), slices.Clone(f.failed), f.closed
	f.mu.Unlock()
	if closed {
		return ErrShutDown
	}
	errs := make([]error, len(shares))
	var waiting sync.WaitGroup
	for i, s := range shares {
		waiting.Go(func() {
			used, stop := s.uses.within(ctx)
			defer stop()
			if err := s.informer.WaitForSync(used); used.Err() == nil || ctx.Err() != nil {
				errs[i] = err
			}
		})
	}
	waiting.Wait()
	for i, s := range shares {
		if s.uses.none() {
			errs[i] = nil
		}
	}
	for _, one := range failed {
		if !one.uses.none() {
			errs = append(errs, one.err)
		}
	}
	return errors.Join(errs...)
}

// Status reports on the informers that are in use, in the order of their names.
func (f *Factory) Status() []report.Status {
	f.mu.Lock()
	shares := f.sorted()
	f.mu.Unlock()
	statuses := make([]report.Status, len(shares))
	for i, s := range shares {
		statuses[i] = s.informer.Status()
	}
	return statuses
}

// Informers returns the informers that are in use, in the order of their names. They are
// not uses of them: they do not keep an informer from ending, and answer as released ones
// do when it has.
func (f *Factory) Informers() []AnyInformer {
	f.mu.Lock()
	defer f.mu.Unlock()
	var informers []AnyInformer
	for _, s := range f.sorted() {
		informers = append(informers, s.informer)
	}
	return slices.Clip(informers)
}

// sorted returns the informers in the order of their names. The caller holds mu.
func (f *Factory) sorted() []*share {
	return slices.SortedFunc(maps.Values(f.shares), func(a, b *share) int { return cmp.Compare(a.informer.Name(), b.informer.Name()) })
}

// Shutdown stops all informers and waits until they have ended, those included that were
// released before. It does not release informers: a SharedInformer that was not released still
// returns the last state, and its memory is freed when it is released, or with the factory. It
// may be called any number of times, but not by a handler, for which it would wait.
func (f *Factory) Shutdown() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.cancel()
	f.running.Wait()
}
