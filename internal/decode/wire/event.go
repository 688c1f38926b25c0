package wire

import (
	"context"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/internal/goroutine"
)

// Event is an event of a watch.
type Event[T any] struct {
	Type watch.EventType
	// Kind is the object's, as far as the server has sent it and T can keep it.
	Kind metav1.TypeMeta
	// Object is what was added, modified or deleted; nothing, if Invalid says why.
	Object T
	// Invalid is set if the object cannot be decoded. Its Identity has a name.
	Invalid *ObjectError
	// Bookmark is set in events of that type.
	Bookmark *metav1.PartialObjectMetadata
	// Status is set in events of type Error.
	Status *metav1.Status
}

// ObjectError reports an object that cannot be decoded, in a response that is sound otherwise:
// the object can be left out, and the rest be used.
type ObjectError struct {
	// Identity is what the text says that the object is, as far as it does.
	Identity Identity
	// Err is the error of the decoder.
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
