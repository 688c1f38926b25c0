package queue

import (
	"fmt"
	"time"
)

// RequeueAfter returns an error that makes [WorkQueue.Run] process a key once more
// when d has passed, or at once if d is not positive. It does not count as a
// failure.
func RequeueAfter(d time.Duration) error { return &requeueError{after: d} }

type requeueError struct{ after time.Duration }

func (e *requeueError) Error() string { return fmt.Sprintf("requeue after %v", e.after) }

// TerminalError returns an error that makes [WorkQueue.Run] not try a key again,
// as that would fail again: nothing happens until the key is added anew. It wraps
// err, which may be nil.
func TerminalError(err error) error { return &terminalError{err: err} }

type terminalError struct{ err error }

func (e *terminalError) Error() string {
	if e.err == nil {
		return "terminal error"
	}
	return "terminal error: " + e.err.Error()
}

// Unwrap returns the error that is terminal.
func (e *terminalError) Unwrap() error { return e.err }
