package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
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
