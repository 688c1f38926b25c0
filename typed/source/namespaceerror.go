package source

import "fmt"

// NamespaceError is the failure of an informer of several namespaces to list or
// watch one of them.
type NamespaceError struct {
	// Namespace is the namespace.
	Namespace string
	// Err is the failure.
	Err error
}

// Error implements error.
func (e *NamespaceError) Error() string { return fmt.Sprintf("namespace %s: %v", e.Namespace, e.Err) }

// Unwrap returns Err.
func (e *NamespaceError) Unwrap() error { return e.Err }
