package simulation

import (
	"fmt"
	"time"
)

// Failure is why a simulation has failed.
type Failure struct {
	Seed  uint64
	Check string        // what should have been so, or "process" and its name
	After time.Duration // how much virtual time had gone by
	Err   error         // of the check
}

// Error implements error.
func (f *Failure) Error() string {
	return fmt.Sprintf("seed %d: %s, after %v: %v", f.Seed, f.Check, f.After, f.Err)
}

// Unwrap returns the error of the check.
func (f *Failure) Unwrap() error { return f.Err }
