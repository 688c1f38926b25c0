package queue

import (
	"fmt"
	"time"
)

// RequeueAfter is returned by a function that has processed a key, to have it
// processed once more when d has passed, or at once if d is not positive. It is
// no failure; see WorkQueue.Run.
func RequeueAfter(d time.Duration) error { return &requeueError{after: d} }

type requeueError struct{ after time.Duration }

func (e *requeueError) Error() string { return fmt.Sprintf("requeue after %v", e.after) }

// TerminalError is returned by a function that has failed to process a key, and
// would again if it was tried again: as long as the key is not added anew, there
// is nothing to do. It wraps err, which may be nil; see WorkQueue.Run.
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
