package kube

import (
	"cmp"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/wire"
)

// wrapper takes an object through the Reflector that is no runtime.Object. It
// has as much of the metadata as the Reflector asks for, in a field: embedded, each
// type of objects would have all of its methods once more.
type wrapper[T index.Object] struct {
	meta metav1.PartialObjectMetadata

	object T
	err    error // why there is no object that can be used
}

// wrap returns an object as a runtime.Object: itself, if it is one.
func wrap[T index.Object](obj T) runtime.Object {
	if o, ok := any(obj).(runtime.Object); ok {
		return o
	}
	return newWrapper(obj, nil)
}

// wrapStray returns an object of another kind than the one that was asked for.
func wrapStray[T index.Object](obj T, kind metav1.TypeMeta, expected schema.GroupVersionKind) runtime.Object {
	return newWrapper(obj, strayError(kind, expected))
}

// strayError says that something is of another kind than it should be.
func strayError(kind metav1.TypeMeta, expected schema.GroupVersionKind) error {
	return fmt.Errorf("kind is %s of %s, want %s of %s", kind.Kind, kind.APIVersion, expected.Kind, expected.GroupVersion())
}

// wrapInvalid returns what is known of an object that cannot be decoded. If its version is not
// known, it gets the version that came before.
func wrapInvalid[T index.Object](invalid *wire.ObjectError, before string) runtime.Object {
	c := &wrapper[T]{err: invalid}
	c.meta.Namespace, c.meta.Name = invalid.Identity.Namespace, invalid.Identity.Name
	c.meta.ResourceVersion = cmp.Or(invalid.Identity.ResourceVersion, before)
	return c
}

// isInvalid reports whether the object is one that cannot be decoded.
func (c *wrapper[T]) isInvalid() bool {
	_, invalid := errors.AsType[*wire.ObjectError](c.err)
	return invalid
}

// versionGetter is an object that knows its version.
type versionGetter interface{ GetResourceVersion() string }

func newWrapper[T index.Object](obj T, err error) *wrapper[T] {
	c := &wrapper[T]{object: obj, err: err}
	c.meta.Namespace, c.meta.Name = obj.GetNamespace(), obj.GetName()
	if v, ok := any(obj).(versionGetter); ok {
		c.meta.ResourceVersion = v.GetResourceVersion()
	}
	return c
}

// GetObjectMeta implements metav1.ObjectMetaAccessor.
func (c *wrapper[T]) GetObjectMeta() metav1.Object { return &c.meta }

// GetObjectKind implements runtime.Object.
func (c *wrapper[T]) GetObjectKind() schema.ObjectKind { return &c.meta }

// DeepCopyObject implements runtime.Object. It copies only the wrapper: the object in it is
// never modified.
func (c *wrapper[T]) DeepCopyObject() runtime.Object {
	own := *c
	return &own
}

// wrappedList is a list, or a page of one.
type wrappedList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []runtime.Object
}

// DeepCopyObject implements runtime.Object. The copy shares the items, which are never
// modified.
func (l *wrappedList) DeepCopyObject() runtime.Object {
	own := *l
	own.Items = append([]runtime.Object(nil), l.Items...)
	return &own
}
