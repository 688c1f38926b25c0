package typed

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/eventlog"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/timing"
	"github.com/kubetyped/informer/typed/report"
)

// listener is a handler that was added, with the events that it gets, in this order:
// the objects that were there when it was added, what was published after that, and
// in between, at its own period or on demand, all objects again. Its methods are for
// one goroutine, unless they say otherwise.
type listener[T index.Object] struct {
	registration *Registration

	handler  Handler[T] // nil: the events are ranged over
	events   subscription[T]
	cursor   *eventlog.Cursor[T] // events, if it is one: to call it costs less
	initial  *index.Snapshot[T]  // delivered first; nil: nothing
	onSynced func()              // called when the handler is synced; nil: nothing is

	tasks    taskQueue[T]
	period   time.Duration  // of resyncs; 0: none
	random   *timing.Random // of jitter
	jitter   float64        // the part of period by which one is longer at most
	timer    *time.Timer
	hooks    atomic.Pointer[handlerHooks] // nil: it is not observed
	panics   panics
	pace     pace
	replays  atomic.Bool                                 // objects of a snapshot are being delivered
	replayed atomic.Uint64                               // how many objects of snapshots were delivered
	atHead   func(note func(*index.Snapshot[T], uint64)) // notes the store and the head of events, unless it was released; nothing is published meanwhile
	fill     func() (*index.Snapshot[T], filling[T])     // begins a resync, if the handler coalesces
}

// subscription is what a listener needs of an eventlog.Cursor or Coalescer.
type subscription[T index.Object] interface {
	reader
	Position() uint64
	Head() uint64
	Next() []Event[T]
	Ready() <-chan struct{}
	Handled()
}

// filling is what a listener needs of an eventlog.Fill.
type filling[T index.Object] interface {
	Offer(Event[T])
	End()
}

// run passes every event to emit until the registration ends or emit returns
// false. Batch, unless it is nil, passes on events that were published, and returns what
// caller.callAll does.
func (l *listener[T]) run(emit func(*Event[T]) bool, batch func([]Event[T]) (int, bool)) {
	defer l.letGo()
	if l.initial != nil && !l.replay(l.initial, Event[T]{Type: index.Added, Reason: index.Initial}, emit) {
		return
	}
	l.initial = nil
	var due <-chan time.Time
	if l.period > 0 {
		l.timer = time.NewTimer(l.nextPeriod())
		defer l.timer.Stop()
		due = l.timer.C
	}
	for !l.registration.stopped.Load() {
		events := l.events.Next()
		if !l.deliver(events, emit, batch) || !l.runTasks(emit) {
			return
		}
		if len(events) > 0 {
			select {
			case <-due:
				l.resync(true)
			default:
			}
			continue
		}
		l.idle()
		select {
		case <-l.events.Ready():
		case <-l.tasks.added:
		case <-due:
			l.resync(true)
		case <-l.registration.stop:
			return
		}
	}
}

// nextPeriod returns how long it is to the next resync.
func (l *listener[T]) nextPeriod() time.Duration {
	more := time.Duration(l.random.Float64() * l.jitter * float64(l.period))
	return l.period + min(more, math.MaxInt64-l.period)
}

// letGo forgets the objects that are not delivered any more.
func (l *listener[T]) letGo() {
	l.initial = nil
	l.tasks.clear()
}

// deliver passes on the events of a batch. It reports whether to continue.
func (l *listener[T]) deliver(events []Event[T], emit func(*Event[T]) bool, batch func([]Event[T]) (int, bool)) bool {
	for len(events) > 0 {
		if !l.runTasks(emit) {
			return false
		}
		done, handled := 1, false
		if batch != nil {
			done, handled = batch(events)
		} else if !emit(&events[0]) {
			return false
		}
		if !handled {
			l.handled()
		}
		events = events[done:]
	}
	return true
}

// handled notes that the handler has been called for one more event.
func (l *listener[T]) handled() {
	if l.cursor != nil {
		l.cursor.Handled()
	} else {
		l.events.Handled()
	}
}

// syncAfterThis marks the handler as synced when it has been called for all events published
// before now. It may be called from any goroutine, once.
func (l *listener[T]) syncAfterThis() {
	l.after(func() {
		close(l.registration.synced)
		if l.onSynced != nil {
			l.onSynced()
		}
	})
}

// resync begins a resync: all objects as they are now, after all events that
// were published before now and before those that follow. It may be called from
// any goroutine that does not hold the informer's lock.
func (l *listener[T]) resync(periodic bool) {
	if l.registration.stopped.Load() {
		return
	}
	if l.fill == nil {
		// If the task were added later, the handler could be past its head by then, and would
		// receive earlier states of the objects.
		l.atHead(func(snapshot *index.Snapshot[T], head uint64) {
			l.tasks.add(task[T]{at: head, snapshot: snapshot, periodic: periodic})
		})
		return
	}
	// An event that is pending, or comes meanwhile, reports the object anyway.
	snapshot, filling := l.fill()
	if snapshot == nil {
		return
	}
	defer filling.End()
	for obj := range snapshot.All() {
		filling.Offer(Event[T]{Type: index.Updated, Reason: index.Resynced, Old: obj, New: obj})
	}
	if periodic {
		l.timer.Reset(l.nextPeriod())
	}
}

// after runs call on the handler's goroutine when the handler has been called for all events
// published before now. It may be called from any goroutine.
func (l *listener[T]) after(call func()) { l.tasks.add(task[T]{at: l.events.Head(), call: call}) }

// runTasks runs the tasks that are due before the next event. It reports whether to continue:
// a task may have removed the handler.
func (l *listener[T]) runTasks(emit func(*Event[T]) bool) bool {
	for l.tasks.some.Load() && !l.registration.stopped.Load() {
		due, ok := l.tasks.next(l.events.Position())
		if !ok {
			break
		}
		if due.call != nil {
			goroutine.CallSafely(due.call)
			l.idle()
			continue
		}
		next := l.replay(due.snapshot, Event[T]{Type: index.Updated, Reason: index.Resynced}, emit)
		if due.periodic {
			l.timer.Reset(l.nextPeriod())
		}
		if !next {
			return false
		}
	}
	return !l.registration.stopped.Load()
}

// replay passes an event like the given one to emit for every object of a snapshot. It reports
// whether to continue.
func (l *listener[T]) replay(s *index.Snapshot[T], event Event[T], emit func(*Event[T]) bool) bool {
	l.replays.Store(true)
	defer l.replays.Store(false)
	for obj := range s.All() {
		if l.registration.stopped.Load() {
			return false
		}
		event.New = obj
		if event.Type == index.Updated {
			event.Old = obj
		}
		if !emit(&event) {
			return false
		}
		l.replayed.Add(1)
	}
	return true
}

// idle reports to observers that something other than calls may take time from now on.
func (l *listener[T]) idle() {
	if by := l.hooks.Load(); by != nil {
		by.idle()
	}
}

// status reports on the handler.
func (l *listener[T]) status() report.Handler {
	s := report.Handler{Name: l.registration.name, Number: l.registration.number, Delivery: l.registration.delivery.String(), Synced: l.registration.isSynced(), Backlog: l.registration.Backlog()}
	l.panics.fill(&s)
	if by := l.hooks.Load(); by != nil {
		for n := range *by {
			(*by)[n].Status(&s)
		}
	} else {
		s.Stuck = l.pace.stuck(l.events.Position()+l.replayed.Load(), s.Backlog > 0 || l.replays.Load(), time.Now(), stuckAfter)
	}
	return s
}

// mergeEvents joins two events of one object, the first of which the handler has not seen. It
// returns false if no event is left.
func mergeEvents[T index.Object](pending, next Event[T]) (Event[T], bool) {
	var none T
	switch {
	case pending.Type == index.Added && next.Type == index.Deleted:
		return pending, false
	case pending.Type == index.Added:
		pending.New = next.New
		return pending, true
	case next.Type == index.Added && index.Same(pending.Old, none): // see index.WithLiteralEvents
		return next, true
	case next.Type == index.Added: // it was deleted
		next.Type = index.Updated
	}
	next.Old = pending.Old
	return next, true
}
