package typed

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/observer"
)

// Option sets up an Informer. Options are checked when the informer is made;
// see NewInformer for what becomes of errors.
type Option func(*config) error

type config struct {
	name        string
	recreated   bool
	nameless    bool
	changedOnly bool
	transforms  []transformStep
	indexer     any               // an *index.Indexer[T] for the informer's T
	onError     func(error) error // nil: nothing is called
	grace       time.Duration     // after the last user of a factory's informer
	shared      bool              // the informer is of a factory
	observers   []observer.Observer
}

// WithName sets the name by which the informer appears in errors, Status, logs and metrics;
// see Informer.Name for the default.
func WithName(name string) Option {
	return func(c *config) error {
		if name == "" {
			return errors.New("the name is empty")
		}
		c.name = name
		return nil
	}
}

// WithIndexer keeps the objects in an indexer that the caller has made, and can therefore
// write to, as tests do to be independent of a server. Writes of the caller cause no events.
// Reports of the source overwrite them, and lists are compared with them. Handlers that are
// added before Run receive no objects from before the initial list.
//
// The indexer must not be that of another informer. Its options replace WithRecreation and
// WithChangedOnly, which cannot be used with it.
func WithIndexer[T index.Object](x *index.Indexer[T]) Option {
	return func(c *config) error {
		if x == nil {
			return errors.New("WithIndexer: indexer is nil")
		}
		c.indexer = x
		return nil
	}
}

// WithOnError calls f with each error that the source reports and recovers from, such as a
// failed list, but not with rejected objects, see source.RejectedError. An error of f ends
// Run, which returns it. For example, to end a program without permission:
//
//	typed.WithOnError(func(err error) error {
//		if apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) {
//			return err
//		}
//		return nil
//	})
//
// The source calls f and waits, so f must return soon, and not wait for the informer. It is
// not called for failures caused by the end of Run's context, as far as the source knows; its
// result then does not count.
func WithOnError(f func(err error) error) Option {
	return func(c *config) error {
		if f == nil {
			return errors.New("WithOnError: function is nil")
		}
		c.onError = f
		return nil
	}
}

// WithGrace makes an informer of a Factory continue for a time after its last user has
// released it, so that a request meanwhile need not wait for a list. By default it stops at
// once. Shutdown does not wait for the time to pass.
func WithGrace(period time.Duration) Option {
	return func(c *config) error {
		if period < 0 {
			return fmt.Errorf("WithGrace: the time %v is negative; 0 stops the informer at once", period)
		}
		c.grace = period
		return nil
	}
}

// WithNameless stores objects without a name, all of a namespace as one, as
// client-go does. Otherwise each of them is left out as a source.RejectedError: API
// servers have none, so the informer's T does not read their names.
func WithNameless() Option {
	return func(c *config) error {
		c.nameless = true
		return nil
	}
}

// WithRecreation reports an object that replaced one with the same key and another UID as a
// deletion and an addition, both with the reason Recreated. Otherwise it is an update, as in
// client-go.
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

type uidGetter interface{ GetUID() types.UID }

type versionGetter interface{ GetResourceVersion() string }

// indexerOf returns the store that c asks for. If there is an error, it is an
// empty one.
func indexerOf[T index.Object](c *config) (*index.Indexer[T], error) {
	opts, err := indexerOptions[T](c)
	if c.indexer == nil || err != nil {
		return index.NewIndexer(opts...), err
	}
	x, ok := c.indexer.(*index.Indexer[T])
	switch {
	case !ok:
		return index.NewIndexer[T](), fmt.Errorf("the indexer is a %T, and the informer's objects are of type %v", c.indexer, reflect.TypeFor[T]())
	case len(opts) > 0:
		return index.NewIndexer[T](), errors.New("WithRecreation and WithChangedOnly cannot be used with WithIndexer: give the indexer the options index.WithRecreated and index.WithUnchanged")
	}
	return x, nil
}

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
		opts = append(opts, index.WithUnchanged(isSame[T]))
	}
	return opts, nil
}

// isSame reports whether an object that has a resource version is the one that it was: a
// server that was restored counts again, so another object may have the version.
func isSame[T index.Object](old, updated T) bool {
	version := any(old).(versionGetter).GetResourceVersion()
	if version == "" || version != any(updated).(versionGetter).GetResourceVersion() {
		return false
	}
	before, identified := any(old).(uidGetter)
	return !identified || before.GetUID() == any(updated).(uidGetter).GetUID()
}
