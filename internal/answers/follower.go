package answers

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/internal/ownwrites"
	"github.com/kubetyped/informer/typed/source"
)

// maxBacklog is how many answers wait for a sink that is slow.
const maxBacklog = 1024

// Decode decodes an object of a kind that came in a media type, as items of lists are.
type Decode[T index.Object] func(mediaType string, kind schema.GroupVersionKind, object []byte) (T, error)

// Follower is the Sink of a Reflector that passes what it gets on to another one, with the
// answers to the program's own writes before the watch brings them. It follows one list and
// watch at a time.
type Follower[T index.Object] struct {
	source.Forwarder[T]
	answers *Answers
	config  Config[T]

	ctx    context.Context
	fail   context.CancelCauseFunc // ends ctx, since nothing can be followed
	queue  chan *delivery
	closed chan struct{}
	live   atomic.Bool                                 // reads have the first list
	of     atomic.Pointer[schema.GroupVersionResource] // nil: no list has been requested

	keys    atomic.Int64  // that the sink has before the watch
	highest atomic.Uint64 // of their versions

	mu        monitor.LongLock          // held through each report of objects
	filter    ownwrites.Filter[T]       // guarded by mu
	off       Reason                    // guarded by mu; why nothing is taken now
	namespace string                    // of the requests; set before of
	selection atomic.Pointer[selection] // of the requests
	unbound   atomic.Bool               // the last list was asked for without a version
}

// delivery is an answer on its way to reads.
type delivery struct {
	*answer
	done   chan struct{}
	finish func() // closes done, once
}

// Config is what a Follower is made of.
type Config[T index.Object] struct {
	Sink    source.Sink[T]
	Decode  Decode[T]
	Partial bool // T is metadata alone
	// Held returns what the sink has, see source.Decoding; nil: it does not say.
	Held func(index.Key) (T, bool)
	// Relist begins another list. It must not wait.
	Relist func()
}

// Follow returns a Follower of the lists and watches that are made with its Context, which
// ends with ctx.
func Follow[T index.Object](ctx context.Context, w *Answers, c Config[T]) *Follower[T] {
	f := &Follower[T]{
		Forwarder: source.Forwarder[T]{To: c.Sink}, answers: w, config: c,
		queue: make(chan *delivery, maxBacklog), closed: make(chan struct{}), mu: monitor.NewLongLock(),
	}
	ctx, f.fail = context.WithCancelCause(ctx)
	f.ctx = withMark(ctx, f)
	return f
}

// Context returns the context of lists and watches.
func (f *Follower[T]) Context() context.Context { return f.ctx }

// Err returns why nothing can be followed, nil if it can.
func (f *Follower[T]) Err() error {
	if context.Cause(f.ctx) == errUnmarked {
		return errUnmarked
	}
	return nil
}

// Run hands answers on until Close is called.
func (f *Follower[T]) Run() {
	for {
		select {
		case <-f.closed:
			return
		case d := <-f.queue:
			if err := goroutine.Contain(f.ctx, "the answer to a write", func() error { f.take(d); return nil }); err != nil {
				d.finish()
			}
		}
	}
}

// Close ends Run. Lists and watches with the context have ended.
func (f *Follower[T]) Close() {
	f.fail(nil)
	if of := f.of.Load(); of != nil {
		f.answers.remove(*of, f)
	}
	close(f.closed)
}

// Ahead returns how many objects the sink has before the watch, and the highest of their
// versions. It does not wait.
func (f *Follower[T]) Ahead() (keys int, highest uint64) {
	return int(f.keys.Load()), f.highest.Load()
}

// requested implements marked.
func (f *Follower[T]) requested(w *Answers, t target, r *http.Request) {
	if w != f.answers || t.name != "" {
		return
	}
	query := r.URL.Query()
	if lists := !query.Has("watch") || query.Has("sendInitialEvents"); lists && !query.Has("continue") {
		f.unbound.Store(query.Get("resourceVersion") == "")
	}
	if f.of.Load() != nil || f.ctx.Err() != nil {
		return
	}
	s := selectionOf(query)
	f.selection.Store(&s)
	f.namespace = t.namespace
	f.of.Store(&t.GroupVersionResource)
	f.answers.add(t.GroupVersionResource, f)
}

// wants implements receiver.
func (f *Follower[T]) wants(namespace string) bool {
	return f.namespace == "" || f.namespace == namespace
}

// ended implements receiver.
func (f *Follower[T]) ended() <-chan struct{} { return f.ctx.Done() }

// offer implements receiver.
func (f *Follower[T]) offer(a *answer) <-chan struct{} {
	done := make(chan struct{})
	d := &delivery{a, done, sync.OnceFunc(func() { close(done) })}
	select {
	case f.queue <- d:
	default:
		f.answers.leaveOut(f.ctx, a.of.GroupVersionResource, Backlog)
		return nil
	}
	if !f.live.Load() {
		return nil
	}
	return d.done
}

// take reports an answer to the sink.
func (f *Follower[T]) take(d *delivery) {
	s := ownwrites.State[T]{Key: d.key, UID: d.uid, Version: d.version, Created: d.created, Held: d.held}
	reason := f.judge(d.answer, &s)
	if reason == "" {
		reason = f.report(d.answer, s)
	}
	if reason != "" {
		f.answers.leaveOut(f.ctx, d.of.GroupVersionResource, reason)
		d.finish()
		return
	}
	f.To.Step(nil, "", d.finish)
}

// judge completes a state by its answer. It returns why that is not taken.
func (f *Follower[T]) judge(a *answer, s *ownwrites.State[T]) Reason {
	selection := f.selection.Load()
	switch {
	case selection.unknown:
		return Selector
	case a.deletion:
		return ""
	case a.kind == partialKind && !f.config.Partial:
		return Form
	}
	s.Outside = !selection.selects(a.key, a.labels)
	obj, err := f.config.Decode(a.mediaType, a.kind, a.object)
	if err != nil {
		return Format
	}
	s.Object, s.Unsure = obj, a.held && !f.has(a)
	return ""
}

// has reports whether the sink surely has the object that was answered.
func (f *Follower[T]) has(a *answer) bool {
	if f.config.Held == nil {
		return false
	}
	obj, ok := f.config.Held(a.key)
	return ok && uidOf(obj) == a.uid
}

// report reports what was answered.
func (f *Follower[T]) report(a *answer, s ownwrites.State[T]) Reason {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.off != "" {
		return f.off
	}
	defer f.count()
	now := time.Now()
	verdict := ownwrites.Nothing
	if a.deletion {
		verdict = f.filter.AnsweredDeletion(a.key, a.uid, a.begun, now)
	} else {
		verdict = f.filter.Answered(s, a.write, now)
	}
	if verdict == ownwrites.Nothing {
		f.answers.ignored.Add(1)
		return ""
	}
	f.answers.taken.Add(1)
	switch c := (index.Change[T]{Object: s.Object}); verdict {
	case ownwrites.Put:
		if s.Held {
			c.UID = &a.uid
		}
		f.To.Change(c, "")
	case ownwrites.Remove:
		f.To.Change(index.Change[T]{Delete: true, Key: &a.key, UID: &a.uid}, "")
	case ownwrites.Leave:
		f.leave([]index.Key{a.key})
	}
	return ""
}

// leave reports objects that the watch does not select. The caller holds mu.
func (f *Follower[T]) leave(keys []index.Key) {
	for _, key := range keys {
		f.To.Change(index.Change[T]{Delete: true, Key: &key, Reason: index.OutOfScope}, "")
	}
}

// count notes what Ahead returns. The caller holds mu.
func (f *Follower[T]) count() {
	keys, highest := f.filter.Ahead()
	f.keys.Store(int64(keys))
	f.highest.Store(highest)
}

// uidOf returns the UID of an object, "" if it does not have one.
func uidOf[T index.Object](obj T) types.UID {
	if o, ok := any(obj).(interface{ GetUID() types.UID }); ok {
		return o.GetUID()
	}
	return ""
}

// versionOf returns the number of a version, false if it is none.
func versionOf(text string) (uint64, bool) {
	version, err := strconv.ParseUint(text, 10, 64)
	return version, err == nil && version > 0
}
