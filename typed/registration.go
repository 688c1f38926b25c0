package typed

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/monitor"
)

// Registration is a handler that was added to an informer. Its methods are
// safe for concurrent use.
type Registration struct {
	name     string
	delivery Delivery
	informer registrar
	number   int // in the order in which the informer's handlers were added; set when it is added

	listener  anyListener
	reader    reader // of the events; set when it is added
	synced    chan struct{}
	stop      chan struct{} // closed when no more events are wanted
	stopOnce  sync.Once
	stopped   atomic.Bool // set before stop is closed, cheaper to ask
	exited    atomic.Bool // the handler has ended its goroutine
	done      chan struct{}
	doneOnce  sync.Once
	calling   bool          // guarded by the informer's mu: a goroutine calls the handler
	goroutine atomic.Uint64 // the number of that goroutine
}

// reader is what a Registration needs of an eventlog.Cursor or Coalescer.
type reader interface {
	Backlog() int
	Close()
}

// anyListener is a listener, whatever the type of its objects.
type anyListener interface {
	resync(periodic bool)
	after(f func())
}

// registrar is the informer, as seen by its registrations.
type registrar interface {
	// leave removes r, and reports whether a goroutine calls its handler.
	leave(r *Registration) bool
	// betweenSteps calls f when the events of all that reads return are published.
	betweenSteps(f func())
	// syncError returns the reason why r is not synced now that the wait for it has ended.
	syncError(ctx context.Context, r *Registration) error
}

func newRegistration(name string, delivery Delivery, informer registrar) *Registration {
	return &Registration{
		name: name, delivery: delivery, informer: informer,
		synced: make(chan struct{}),
		stop:   make(chan struct{}),
		done:   make(chan struct{}),
	}
}

// Name returns the name of the handler.
func (r *Registration) Name() string { return r.name }

// Synced returns a channel that is closed when the handler has returned from
// the call for the last of the initial objects: those of the first list, or
// those that were there when it was added to a synced informer.
func (r *Registration) Synced() <-chan struct{} { return r.synced }

// WaitForSync waits until Synced is closed. If ctx ends before, or the informer, or the
// registration is closed, it returns a *SyncError with the reason.
func (r *Registration) WaitForSync(ctx context.Context) error {
	select {
	case <-r.synced:
		return nil
	case <-r.stop:
	case <-ctx.Done():
	}
	if r.isSynced() {
		return nil
	}
	return r.informer.syncError(ctx, r)
}

// Backlog returns how many events the handler has not returned from yet. The
// initial objects of a handler that was added late are not counted, nor are events that are
// dropped because the handler was removed or the informer has ended.
func (r *Registration) Backlog() int { return r.reader.Backlog() }

// Close removes the handler: when Close returns, the handler is not running
// and will not be called again. In a call of the handler itself, Close does
// not wait for that call to end. Events that were not delivered are dropped.
// It may be called any number of times.
//
// The handler must not wait for another goroutine that calls Close.
func (r *Registration) Close() {
	r.Remove()
	if r.goroutine.Load() != goroutine.ID() {
		<-r.done
	}
}

// Remove does as Close, but does not wait: if the handler is running, it finishes the call
// that it is in. Done is closed then.
func (r *Registration) Remove() {
	r.end()
	running := r.informer.leave(r)
	r.reader.Close()
	if !running {
		r.finish()
	}
}

// Done returns a channel that is closed when the handler is not running and will
// not be called again, since it was removed or the informer has ended.
func (r *Registration) Done() <-chan struct{} { return r.done }

// Err returns ErrExited if the handler was removed since it has ended its goroutine,
// and nil otherwise.
func (r *Registration) Err() error {
	if r.exited.Load() {
		return ErrExited
	}
	return nil
}

// finish closes done.
func (r *Registration) finish() { r.doneOnce.Do(func() { close(r.done) }) }

// Resync calls the handler with an update of every object now in the store, with old and new
// the same, after all events up to now; with Coalesce, an object that has an event pending gets
// only that. It does not wait for that. If the last thing that
// waits for the handler is a resync already, that is the one. See WithResync for resyncs at a
// period.
func (r *Registration) Resync() { r.listener.resync(false) }

// After calls f on the handler's goroutine, after all events up to now, those of the state that
// reads return included. It does not wait for that. If the handler is removed or the informer ends
// before, f is not called.
func (r *Registration) After(f func()) {
	r.informer.betweenSteps(func() { r.listener.after(f) })
}

// end makes the handler's goroutine stop.
func (r *Registration) end() {
	r.stopOnce.Do(func() {
		r.stopped.Store(true)
		close(r.stop)
	})
}

// isSynced reports whether synced is closed.
func (r *Registration) isSynced() bool { return monitor.IsClosed(r.synced) }
