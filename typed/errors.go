package typed

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrStarted is returned by Run when it was called before.
	ErrStarted = errors.New("the informer was started before; an informer runs once")
	// ErrNotStarted means that an informer does not sync because Run was not called.
	ErrNotStarted = errors.New("the informer was not started: call Run")
	// ErrStopped is returned by whatever needs a running informer when it has
	// ended.
	ErrStopped = errors.New("the informer has stopped")
	// ErrClosed is returned when something is asked of a Registration that was
	// closed.
	ErrClosed = errors.New("the handler was removed")
	// ErrExited means that a handler was removed because it ended its goroutine, with
	// runtime.Goexit or a function that calls it, such as testing.T.FailNow.
	ErrExited = errors.New("the handler has ended its goroutine, and was removed")
)

// SyncError reports why an informer or a handler is not synced.
type SyncError struct {
	// Informer is the informer's name.
	Informer string
	// Cause reports why the wait ended: the cause of the context's end (see context.Cause),
	// ErrStopped, possibly with what the source returned, or ErrClosed.
	Cause error
	// Err is the last failure of the source, nil if there was none since it
	// last worked, or ErrNotStarted.
	Err error
	// Failures counts the failures since the source last worked, Since is the
	// time of the first of them.
	Failures int
	Since    time.Time
}

// Error implements error.
func (e *SyncError) Error() string {
	switch {
	case e.Failures > 0:
		return fmt.Sprintf("informer %s is not synced: %v; list or watch fails since %s (%d×), lately with: %v",
			e.Informer, e.Cause, e.Since.Format(time.RFC3339), e.Failures, e.Err)
	case e.Err != nil:
		return fmt.Sprintf("informer %s is not synced: %v; %v", e.Informer, e.Cause, e.Err)
	default:
		return fmt.Sprintf("informer %s is not synced: %v", e.Informer, e.Cause)
	}
}

// Unwrap returns both Cause and Err, for errors.Is and errors.As.
func (e *SyncError) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Cause}
	}
	return []error{e.Cause, e.Err}
}
