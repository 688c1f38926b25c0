package election

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// guardedLock is a lock that client-go cannot release while lead works. It would do so when a renewal
// has failed, before the context of the work ends.
type guardedLock struct {
	resourcelock.Interface

	mu    sync.Mutex
	state leadState // guarded by mu
}

// leadState is how far a call of Elect has come.
type leadState struct {
	tried    bool // to win the lead
	won      bool // client-go calls OnStartedLeading
	ended    bool // the context, before the lead was won
	works    bool // the lead was won, and lead has not returned yet
	released bool // the lead, or that was tried

	failure error // why the lease was not renewed, since it last was
}

// leads reports whether the lead was won before the context ended.
func (s leadState) leads() bool { return s.won && !s.ended }

// fail notes why the lease was not renewed. The end of a request's context does not replace the error of
// the request before it, which says more.
func (s *leadState) fail(ctx context.Context, err error) {
	if err != nil && (s.failure == nil || ctx.Err() == nil) {
		s.failure = err
	}
}

var errStillWorks = errors.New("the lead is not given up: the work of this process has not ended yet")

// Get implements resourcelock.Interface.
func (l *guardedLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	failure := err
	switch {
	case err != nil:
	case record.HolderIdentity == "":
		failure = errors.New("no process holds it: its holder was removed")
	case record.HolderIdentity != l.Identity():
		failure = fmt.Errorf("process %q holds it", record.HolderIdentity)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.fail(ctx, failure)
	return record, raw, err
}

// Create implements resourcelock.Interface.
func (l *guardedLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.note(ctx, func() error { return l.Interface.Create(ctx, record) })
}

// Update implements resourcelock.Interface.
func (l *guardedLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity != "" {
		return l.note(ctx, func() error { return l.Interface.Update(ctx, record) })
	}
	if !l.release() {
		return errStillWorks
	}
	return l.Interface.Update(ctx, record)
}

// release notes that the lead is given up, and reports whether it may be.
func (l *guardedLock) release() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.released = !l.state.works
	return l.state.released
}

// note notes that the lead was won, if a record with this process was written.
func (l *guardedLock) note(ctx context.Context, write func() error) error {
	l.mu.Lock()
	l.state.tried = true
	l.mu.Unlock()
	err := write()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.state.failure = nil
	}
	l.state.fail(ctx, err)
	if err == nil && !l.state.won {
		l.state.won, l.state.works = true, !l.state.ended
	}
	return err
}

// end notes that the context has ended, and reports whether that was before the lead was won.
func (l *guardedLock) end() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.ended = !l.state.won
	return l.state.ended
}

// stop notes that the work has ended.
func (l *guardedLock) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.works = false
}

// now returns the state.
func (l *guardedLock) now() leadState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}
