package wire

import "fmt"

// ObjectError tells of an object that cannot be decoded, in a response that is
// sound otherwise: it can be left out, and what comes after it be used.
type ObjectError struct {
	// Identity is what the text says that the object is, as far as it does.
	Identity Identity
	// Err says what is wrong.
	Err error
}

// Error implements error.
func (e *ObjectError) Error() string { return fmt.Sprintf("it cannot be decoded: %v", e.Err) }

// Unwrap returns Err.
func (e *ObjectError) Unwrap() error { return e.Err }

// Identity is what of an object's metadata tells which object it is, in which
// state.
type Identity struct{ Namespace, Name, ResourceVersion string }
