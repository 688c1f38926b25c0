package typed

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
)

// Option sets up an Informer. Options are checked when the informer is made;
// see NewInformer for what becomes of errors.
type Option func(*config) error

type config struct {
	name         string
	keepReadable bool
	recreated    bool
	changedOnly  bool
	transform    any // a func(T) (T, error) for the informer's T
}

// WithName sets the name by which the informer appears in errors, Status and
// logs; otherwise it is the type of its objects.
func WithName(name string) Option {
	return func(c *config) error {
		if name == "" {
			return errors.New("the name is empty")
		}
		c.name = name
		return nil
	}
}

// WithTransform passes every object that is received through transform before
// anything else sees it, exactly once. The function may modify the object and
// return it. If it returns an error, the object is left out as a
// RejectedError.
func WithTransform[T index.Object](transform func(T) (T, error)) Option {
	return func(c *config) error {
		if transform == nil {
			return errors.New("the transform function is nil")
		}
		if c.transform != nil {
			return errors.New("there is more than one transform function")
		}
		c.transform = transform
		return nil
	}
}

// WithRecreation reports an object that took the place of one with the same
// key and another UID as a deletion and an addition, both with the reason
// Recreated. Otherwise it is an update, as in client-go.
func WithRecreation() Option {
	return func(c *config) error {
		c.recreated = true
		return nil
	}
}

// WithChangedOnly leaves out, after a list that follows the first one, the
// updates of objects whose resource version has not changed. Otherwise they
// are delivered, as in client-go.
func WithChangedOnly() Option {
	return func(c *config) error {
		c.changedOnly = true
		return nil
	}
}

// WithReadableAfterStop keeps the objects when the informer stops, so that
// they can still be read. Otherwise the informer lets go of them.
func WithReadableAfterStop() Option {
	return func(c *config) error {
		c.keepReadable = true
		return nil
	}
}

type uidGetter interface{ GetUID() types.UID }

type versionGetter interface{ GetResourceVersion() string }

// indexerOptions returns the options of the store that belong to c.
func indexerOptions[T index.Object](c *config) ([]index.Option[T], error) {
	var none T
	var opts []index.Option[T]
	if c.recreated {
		if _, ok := any(none).(uidGetter); !ok {
			return nil, fmt.Errorf("WithRecreation needs objects with a UID, and %v has no method GetUID", reflect.TypeFor[T]())
		}
		opts = append(opts, index.WithRecreated(func(old, updated T) bool {
			return any(old).(uidGetter).GetUID() != any(updated).(uidGetter).GetUID()
		}))
	}
	if c.changedOnly {
		if _, ok := any(none).(versionGetter); !ok {
			return nil, fmt.Errorf("WithChangedOnly needs objects with a resource version, and %v has no method GetResourceVersion", reflect.TypeFor[T]())
		}
		opts = append(opts, index.WithUnchanged(func(old, updated T) bool {
			version := any(old).(versionGetter).GetResourceVersion()
			return version != "" && version == any(updated).(versionGetter).GetResourceVersion()
		}))
	}
	return opts, nil
}

// transformOf returns the transform function of c, nil if there is none.
func transformOf[T index.Object](c *config) (func(T) (T, error), error) {
	if c.transform == nil {
		return nil, nil
	}
	transform, ok := c.transform.(func(T) (T, error))
	if !ok {
		return nil, fmt.Errorf("the transform function is a %T, and the informer's objects are of type %v", c.transform, reflect.TypeFor[T]())
	}
	return transform, nil
}
