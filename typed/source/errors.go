package source

import (
	"errors"
	"fmt"
)

// RequestError is the failure of a list or a watch, so that each is counted separately.
// Sources that make requests themselves, as those of package kube do, report it; of several
// namespaces or clusters, the first failure decides.
type RequestError struct {
	// Watch is set for a watch, except one that streams a list which is not complete.
	Watch bool
	// Err is the failure.
	Err error
}

// Error implements error: the text is that of Err.
func (e *RequestError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *RequestError) Unwrap() error { return e.Err }

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

// NamespaceError is the failure of an informer of several namespaces to list or
// watch one of them, or to be read for one that it does not have.
type NamespaceError struct {
	// Namespace is the namespace.
	Namespace string
	// Err is the failure.
	Err error
}

var (
	// ErrOutside is why a namespace cannot be read that is not in the set which an informer
	// follows, see Namespaces.Err.
	ErrOutside = errors.New("not one of the namespaces that the informer follows: add it to the set, or read from the API server")
	// ErrUnlisted is why a namespace of the set cannot be read yet, see Scoped.
	ErrUnlisted = errors.New("not listed yet: try again later")
	// ErrPassedOver is what the source of a namespace wraps that reports an error which the
	// informer is not to wait for, see FromNamespaces.
	ErrPassedOver = errors.New("the informer does not wait for it")
)

// Error implements error.
func (e *NamespaceError) Error() string { return fmt.Sprintf("namespace %s: %v", e.Namespace, e.Err) }

// Unwrap returns Err.
func (e *NamespaceError) Unwrap() error { return e.Err }

// ErrNotStreamed is what a report wraps of a streamed list (WatchList) that a source has
// given up: its objects are listed the plain way. The informer logs it, counts it
// (typed.Status.NotStreamed), and does not take it for a failure.
var ErrNotStreamed = errors.New("a streamed list was given up")
