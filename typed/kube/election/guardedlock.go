package election

import (
	"context"
	"errors"
	"sync"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// guardedLock is a lock that client-go cannot release while lead works. It would do so when a renewal
// has failed, before the context of the work ends.
type guardedLock struct {
	resourcelock.Interface

	mu       sync.Mutex
	tried    bool // guarded by mu; to win the lead
	won      bool // guarded by mu
	ended    bool // guarded by mu; the context, before the lead was won
	works    bool // guarded by mu; the lead was won, and lead has not returned yet
	released bool // guarded by mu; or that was tried
}

var errStillWorks = errors.New("the lead is not given up: the work of this process has not ended yet")

// Create implements resourcelock.Interface.
func (l *guardedLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.note(func() error { return l.Interface.Create(ctx, record) })
}

// Update implements resourcelock.Interface.
func (l *guardedLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity != "" {
		return l.note(func() error { return l.Interface.Update(ctx, record) })
	}
	l.mu.Lock()
	works := l.works
	l.released = l.released || !works
	l.mu.Unlock()
	if works {
		return errStillWorks
	}
	return l.Interface.Update(ctx, record)
}

// note notes that the lead was won, if a record with this process was written.
func (l *guardedLock) note(write func() error) error {
	l.mu.Lock()
	l.tried = true
	l.mu.Unlock()
	err := write()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && !l.won {
		l.won, l.works = true, !l.ended
	}
	return err
}

// end notes that the context has ended, and reports whether that was before the lead was won.
func (l *guardedLock) end() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = !l.won
	return l.ended
}

// stop notes that the work has ended.
func (l *guardedLock) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.works = false
}

// hasWon reports whether client-go has called OnStartedLeading.
func (l *guardedLock) hasWon() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.won
}

// leads reports whether the lead was won while it was wanted.
func (l *guardedLock) leads() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.won && !l.ended
}

// mayHold reports whether the lead may have been won, and nothing has given it up.
func (l *guardedLock) mayHold() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tried && !l.released
}
