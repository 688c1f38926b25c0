package apitest

import (
	"errors"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/apitest/internal/store"
)

// ConvertFunc returns an object of one version of a resource in another version, to, either of
// the two being the one that is stored. obj is a copy that the function may modify and return.
// The metadata have to stay, except for labels and annotations. It is called from many
// goroutines, and without a lock.
type ConvertFunc func(obj runtime.Object, to schema.GroupVersion) (runtime.Object, error)

// versionOf makes a collection another version of one that is stored.
func (c *collection) versionOf(stored *collection, convert ConvertFunc) error {
	switch {
	case stored == nil:
		return fmt.Errorf("resource %s: its StorageVersion is not served, or not stored itself", c.resource)
	case stored.kind.Kind != c.kind.Kind || stored.namespaced != c.namespaced || stored.status != c.status:
		return fmt.Errorf("resource %s: its kind, scope or status differs from %s, its StorageVersion", c.resource, stored.resource)
	case convert == nil:
		return fmt.Errorf("resource %s: it has a StorageVersion and no Convert", c.resource)
	}
	c.stored, c.convert, c.table = stored, convert, stored.table
	return nil
}

// storage returns the collection whose objects are stored.
func (c *collection) storage() *collection {
	if c.stored != nil {
		return c.stored
	}
	return c
}

// toStored returns an object of the collection as it is stored.
func (c *collection) toStored(obj runtime.Object) (runtime.Object, error) {
	return c.converted(obj, c.storage())
}

// fromStored returns an object that is stored as one of the collection.
func (c *collection) fromStored(obj runtime.Object) (runtime.Object, error) {
	return c.converted(obj, c)
}

// converted returns an object in the version of another collection of the same table.
func (c *collection) converted(obj runtime.Object, to *collection) (runtime.Object, error) {
	if c.stored == nil {
		return obj, nil
	}
	before := metadataOf(obj)
	failed := func(err error) error {
		return apierrors.NewInternalError(fmt.Errorf("conversion of %s %s to %s: %w", c.groupResource(), before.GetName(), to.kind.GroupVersion(), err))
	}
	out, err := c.convert(obj.DeepCopyObject(), to.kind.GroupVersion())
	if err != nil {
		return nil, failed(err)
	}
	wanted := to.newObject()
	if reflect.TypeOf(out) != reflect.TypeOf(wanted) || reflect.ValueOf(out).IsNil() {
		return nil, failed(fmt.Errorf("conversion returned %T, want %T", out, wanted))
	}
	after := metadataOf(out)
	if before.GetName() != after.GetName() || before.GetNamespace() != after.GetNamespace() || before.GetUID() != after.GetUID() ||
		before.GetResourceVersion() != after.GetResourceVersion() {
		return nil, failed(errors.New("conversion changed the name, namespace, UID or resource version"))
	}
	out.GetObjectKind().SetGroupVersionKind(to.kind)
	return out, nil
}

// view returns a stored state as one of the collection; nil is nil.
func (c *collection) view(v *store.Version) (*store.Version, error) {
	if c.stored == nil || v == nil {
		return v, nil
	}
	obj, err := c.fromStored(v.Object)
	if err != nil {
		return nil, err
	}
	return &store.Version{Object: obj, Revision: v.Revision, Deleted: v.Deleted}, nil
}

// viewEvent returns an event of the table as one of the collection.
func (c *collection) viewEvent(e *store.Event) (*store.Event, error) {
	if c.stored == nil {
		return e, nil
	}
	current, err := c.view(e.Current)
	if err != nil {
		return nil, err
	}
	previous, err := c.view(e.Previous)
	if err != nil {
		return nil, err
	}
	return &store.Event{Type: e.Type, Current: current, Previous: previous}, nil
}
