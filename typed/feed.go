package typed

import (
	"time"

	"github.com/kubetyped/informer/index"
)

// feed is the events of one handler, in the order in which it gets them: the
// objects that were there when it joined, what was published after that, and
// in between, at the handler's own period, all objects again. Its methods are
// for one goroutine.
type feed[T index.Object] struct {
	*Registration

	events subscription[T]
	joined *index.Snapshot[T] // delivered first; nil: nothing
	ready  bool               // the registration is synced

	period   time.Duration // of resyncs; 0: none
	timer    *time.Timer
	state    func() (*index.Snapshot[T], uint64) // the store, and the head of events at that moment
	offer    func(Event[T])                      // takes the events of a resync, if the handler coalesces
	resync   *index.Snapshot[T]                  // of a resync that has begun; nil: none
	resyncAt uint64                              // the position at which it is delivered
}

// subscription is what a feed needs of an eventlog.Cursor or Coalescer.
type subscription[T index.Object] interface {
	reader
	Next() []Event[T]
	Ready() <-chan struct{}
	Handled()
}

// run passes every event to emit until the registration ends or emit returns
// false.
func (f *feed[T]) run(emit func(*Event[T]) bool) {
	if f.joined != nil && !f.replay(f.joined, Event[T]{Type: index.Added, Reason: index.Initial}, emit) {
		return
	}
	f.joined = nil
	f.noteSynced()
	var due <-chan time.Time
	if f.period > 0 {
		f.timer = time.NewTimer(f.period)
		defer f.timer.Stop()
		due = f.timer.C
	}
	for !f.stopped.Load() {
		batch := f.events.Next()
		if !f.deliver(batch, emit) || !f.resyncIfDue(emit) {
			return
		}
		f.noteSynced()
		if len(batch) > 0 {
			select {
			case <-due:
				f.startResync()
			case <-f.asked:
				f.startResync()
			default:
			}
			continue
		}
		select {
		case <-f.events.Ready():
		case <-due:
			f.startResync()
		case <-f.asked:
			f.startResync()
		case <-f.stop:
			return
		}
	}
}

// deliver passes the events of a batch to emit. It reports whether to go on.
func (f *feed[T]) deliver(batch []Event[T], emit func(*Event[T]) bool) bool {
	for i := range batch {
		if !f.resyncIfDue(emit) || !emit(&batch[i]) {
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
	if !f.ready {
		f.ready = f.checkSynced()
	}
}

// startResync begins a resync: all objects as they are now, after all events
// that were published before now and before those that follow.
func (f *feed[T]) startResync() {
	snapshot, head := f.state()
	if f.offer == nil {
		f.resync, f.resyncAt = snapshot, head
		return
	}
	// An event that is pending will tell of the object anyway, and the latest.
	for obj := range snapshot.All() {
		f.offer(Event[T]{Type: index.Updated, Reason: index.Resynced, Old: obj, New: obj})
	}
	f.endResync()
}

// endResync begins the next period.
func (f *feed[T]) endResync() {
	if f.timer != nil {
		f.timer.Reset(f.period)
	}
}

// resyncIfDue delivers the resync that has begun, if everything that was
// published before it has been delivered. It reports whether to go on.
func (f *feed[T]) resyncIfDue(emit func(*Event[T]) bool) bool {
	if f.resync == nil || f.events.Position() < f.resyncAt {
		return true
	}
	snapshot := f.resync
	f.resync = nil
	ok := f.replay(snapshot, Event[T]{Type: index.Updated, Reason: index.Resynced}, emit)
	f.endResync()
	return ok
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
