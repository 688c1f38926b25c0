package queue

import (
	"errors"
	"fmt"
	"time"
)

// RequeueAfter returns an error that makes [WorkQueue.Run] process a key once more when d has
// passed, or at once if d is not positive. It does not count as a failure.
func RequeueAfter(d time.Duration) error { return &requeueError{after: d} }

type requeueError struct{ after time.Duration }

func (e *requeueError) Error() string { return fmt.Sprintf("requeue after %v", e.after) }

// TerminalError returns an error that makes [WorkQueue.Run] not try a key again, as that would
// fail again: nothing happens until the key is added anew. It wraps err, which may be nil.
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

// IsRequeue reports whether [WorkQueue.Run] processes a key once more for err alone, as
// RequeueAfter asks for, and after what time. It is for those who wrap the function that Run
// calls.
func IsRequeue(err error) (after time.Duration, ok bool) {
	requeue, ok := errors.AsType[*requeueError](err)
	if !ok || IsTerminal(err) {
		return 0, false
	}
	return requeue.after, true
}

// IsTerminal reports whether err is, or wraps, one of TerminalError.
func IsTerminal(err error) bool {
	_, ok := errors.AsType[*terminalError](err)
	return ok
}
