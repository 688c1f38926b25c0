package source

import (
	"errors"
	"fmt"
)

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
