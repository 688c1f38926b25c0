package wire

import (
	"context"
	"fmt"
	"reflect"

	"github.com/kubetyped/informer/internal/goroutine"
)

// ObjectError reports an object that cannot be decoded, in a response that is sound otherwise:
// the object can be left out, and the rest be used.
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

// Identity is the metadata that identifies an object and its state.
type Identity struct{ Namespace, Name, ResourceVersion string }

// panicOf reports what a method by which objects of type T are decoded has panicked with,
// and returns it as an error of the object. It is called by the deferred function that has
// recovered.
func panicOf[T any](panicked any) error {
	goroutine.Crash(context.Background(), panicked)
	return &goroutine.PanicError{Of: "a method by which a " + reflect.TypeFor[T]().String() + " is decoded", Value: panicked}
}
