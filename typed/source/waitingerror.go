package source

import "fmt"

// WaitingError is reported by a Source made of others before all of them have their objects.
// It is no failure: WaitForSync returns it, and the informer does not log or count it.
type WaitingError struct {
	// For is the name of what the source waits for.
	For string
	// Err is what that fails with, nil if nothing is known of a failure.
	Err error
}

// Error implements error.
func (e *WaitingError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("waits for %s, which has not synced yet", e.For)
	}
	return fmt.Sprintf("waits for %s: %v", e.For, e.Err)
}

// Unwrap returns Err.
func (e *WaitingError) Unwrap() error { return e.Err }
