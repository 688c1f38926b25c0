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

	despiteFreeze bool
}

// WithName sets the name by which the informer appears in errors, Status, logs and
// metrics; see Informer.Name for what it is otherwise.
func WithName(name string) Option {
	return func(c *config) error {
		if name == "" {
			return errors.New("the name is empty")
		}
		c.name = name
		return nil
	}
}

// WithIndexer keeps the objects in an indexer that the caller has made, and can
// therefore write to, as tests do to be independent of a server. What the caller
// writes gives no events; it is overwritten by what the source reports, and a
// list is compared with it as with anything else in the store. Handlers that are
// added before Run are not told of objects that are there before the first list.
//
// The indexer must not be that of another informer. Its options take the place
// of WithRecreation and WithChangedOnly, which cannot be used with it.
func WithIndexer[T index.Object](x *index.Indexer[T]) Option {
	return func(c *config) error {
		if x == nil {
			return errors.New("the indexer is nil")
		}
		c.indexer = x
		return nil
	}
}

// WithOnError has f called with each error that the source reports and goes on after,
// such as a failed list; objects that are rejected are not among them, see
// source.RejectedError. If f returns an error, that ends Run, which returns it: for a
// program that has no business without permission,
//
//	typed.WithOnError(func(err error) error {
//		if apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) {
//			return err
//		}
//		return nil
//	})
//
// f is called by the source, which waits for it, so it must return soon, and not wait
// for the informer. It is not called for what fails because Run's context has ended, as
// far as the source can tell; what it returns then does not count.
func WithOnError(f func(err error) error) Option {
	return func(c *config) error {
		if f == nil {
			return errors.New("the function to call with errors is nil")
		}
		c.onError = f
		return nil
	}
}

// WithGrace has an informer of a Factory go on for a time after its last user has
// released it, so that whoever asks for it meanwhile need not wait for a list. By
// default it stops at once. Shutdown does not wait for the time to pass.
func WithGrace(period time.Duration) Option {
	return func(c *config) error {
		if period < 0 {
			return fmt.Errorf("WithGrace: the time %v is negative; 0 stops the informer at once", period)
		}
		c.grace = period
		return nil
	}
}

// WithDespiteFreeze has a factory start an informer although it was frozen, see
// Factory.Freeze.
func WithDespiteFreeze() Option {
	return func(c *config) error {
		c.despiteFreeze = true
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
