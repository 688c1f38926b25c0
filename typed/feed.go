package typed

import (
	"context"
	"math/rand/v2"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
)

// feed is the events of one handler, in the order in which it gets them: the
// objects that were there when it joined, what was published after that, and
// in between, at the handler's own period or on demand, all objects again. Its
// methods are for one goroutine, unless they say otherwise.
type feed[T index.Object] struct {
	*Registration

	events   subscription[T]
	joined   *index.Snapshot[T] // delivered first; nil: nothing
	ready    bool               // the registration is synced
	onSynced func()             // called when it is; nil: nothing is

	marks  marks[T]
	period time.Duration // of resyncs; 0: none
	jitter float64       // the part of period by which one is longer at most
	timer  *time.Timer
	state  func() (*index.Snapshot[T], uint64)     // the store, nil if it was released, and the head of events at that moment
	fill   func() (*index.Snapshot[T], filling[T]) // begins a resync, if the handler coalesces
}

// subscription is what a feed needs of an eventlog.Cursor or Coalescer.
type subscription[T index.Object] interface {
	reader
	Next() []Event[T]
	Ready() <-chan struct{}
	Handled()
}

// filling is what a feed needs of an eventlog.Fill.
type filling[T index.Object] interface {
	Offer(Event[T])
	End()
}

// run passes every event to emit until the registration ends or emit returns
// false.
func (f *feed[T]) run(emit func(*Event[T]) bool) {
	defer f.letGo()
	if f.joined != nil && !f.replay(f.joined, Event[T]{Type: index.Added, Reason: index.Initial}, emit) {
		return
	}
	f.joined = nil
	f.noteSynced()
	var due <-chan time.Time
	if f.period > 0 {
		f.timer = time.NewTimer(f.nextPeriod())
		defer f.timer.Stop()
		due = f.timer.C
	}
	for !f.stopped.Load() {
		batch := f.events.Next()
		if !f.deliver(batch, emit) || !f.passMarks(emit) {
			return
		}
		f.noteSynced()
		if len(batch) > 0 {
			select {
			case <-due:
				f.resync(true)
			default:
			}
			continue
		}
		select {
		case <-f.events.Ready():
		case <-f.marks.added:
		case <-due:
			f.resync(true)
		case <-f.stop:
			return
		}
	}
}

// nextPeriod returns how long it is to the next resync.
func (f *feed[T]) nextPeriod() time.Duration {
	return f.period + time.Duration(rand.Float64()*f.jitter*float64(f.period))
}

// letGo forgets the objects that are not delivered any more.
func (f *feed[T]) letGo() {
	f.joined = nil
	f.marks.clear()
}

// deliver passes the events of a batch to emit. It reports whether to go on.
func (f *feed[T]) deliver(batch []Event[T], emit func(*Event[T]) bool) bool {
	for i := range batch {
		if !f.passMarks(emit) || !emit(&batch[i]) {
			return false
		}
		f.events.Handled()
		if f.stopped.Load() {
			return false
		}
		f.noteSynced()
	}
	return true
}

func (f *feed[T]) noteSynced() {
	if f.ready || !f.checkSynced() {
		return
	}
	f.ready = true
	if f.onSynced != nil {
		contain(f.onSynced)
	}
}

// contain calls a function of the user, and reports a panic.
func contain(call func()) {
	defer utilruntime.HandleCrashWithContext(context.Background())
	call()
}

// resync begins a resync: all objects as they are now, after all events that
// were published before now and before those that follow. It may be called from
// any goroutine that does not hold the informer's lock.
func (f *feed[T]) resync(periodic bool) {
	if f.stopped.Load() {
		return
	}
	if f.fill == nil {
		snapshot, head := f.state()
		if snapshot == nil {
			return
		}
		f.marks.add(mark[T]{at: head, snapshot: snapshot, periodic: periodic})
		return
	}
	// An event that is pending, or comes meanwhile, tells of the object anyway.
	snapshot, filling := f.fill()
	if snapshot == nil {
		return
	}
	defer filling.End()
	for obj := range snapshot.All() {
		filling.Offer(Event[T]{Type: index.Updated, Reason: index.Resynced, Old: obj, New: obj})
	}
	if periodic {
		f.timer.Reset(f.nextPeriod())
	}
}

// after has call called when the handler has been called for what was published
// before now. It may be called from any goroutine.
func (f *feed[T]) after(call func()) { f.marks.add(mark[T]{at: f.events.Head(), call: call}) }

// passMarks does what is due before the next event. It reports whether to go on.
func (f *feed[T]) passMarks(emit func(*Event[T]) bool) bool {
	for f.marks.some.Load() {
		due, ok := f.marks.next(f.events.Position())
		if !ok {
			break
		}
		if due.call != nil {
			contain(due.call)
			continue
		}
		next := f.replay(due.snapshot, Event[T]{Type: index.Updated, Reason: index.Resynced}, emit)
		if due.periodic {
			f.timer.Reset(f.nextPeriod())
		}
		if !next {
			return false
		}
	}
	return true
}

// replay passes an event like the given one to emit for every object of a
// snapshot. It reports whether to go on.
func (f *feed[T]) replay(s *index.Snapshot[T], event Event[T], emit func(*Event[T]) bool) bool {
	for obj := range s.All() {
		event.New = obj
		if event.Type == index.Updated {
			event.Old = obj
		}
		if !emit(&event) || f.stopped.Load() {
			return false
		}
	}
	return true
}

// mergeEvents joins two events of one object, of which the handler has not
// seen the first. It returns false if there is nothing to tell.
func mergeEvents[T index.Object](pending, next Event[T]) (Event[T], bool) {
	switch {
	case next.Reason == index.Resynced:
		return pending, true
	case pending.Type == index.Added && next.Type == index.Deleted:
		return pending, false
	case pending.Type == index.Added:
		pending.New = next.New
		return pending, true
	case next.Type == index.Added: // it was deleted
		next.Type = index.Updated
	}
	next.Old = pending.Old
	return next, true
}
