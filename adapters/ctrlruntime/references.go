package ctrlruntime

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/reference"
	"github.com/kubetyped/informer/typed/source"
)

// WithReferences makes the cache follow the objects of a kind by name, those that Get reads, and
// never list the others:
//
//	options.NewCache = ctrlruntime.NewCache(ctrlruntime.WithReferences[*corev1.Secret]())
//
// The program needs list and watch of these names alone (resourceNames), and pays for these
// alone, see package reference.
//
//  1. The first Get of a key waits for its list, later ones read the cache. Not found means that
//     the server has said so.
//  2. A key stays followed, so that controllers learn of changes, unless it was absent, and not
//     read, for an hour. reference.WithIdle ends that some time after the last Get.
//  3. Watches, Owns and For have the events of the objects that are followed. One that is not
//     followed any more is not deleted.
//  4. List is a request each time, which the log says once. MatchingFields by an index of the
//     cache, and IndexField, are an error.
//  5. With the right to get alone, and beyond the limit (reference.WithLimit), Get is a request
//     each time, and there are no events, which the log says once. The right is tried again
//     after ten minutes.
//  6. Metadata alone is read of the same objects. Unstructured objects are requested, and have
//     no events.
//
// Limits of namespaces do not apply. It is an error if the kind is named twice, by Typed,
// WithNamespaces, WithPacked or Optional as well, or selected in ByObject, if the server does not have it,
// or for T as with Typed.
func WithReferences[T Object](opts ...reference.Option) CacheOption {
	of := reflect.TypeFor[T]()
	return func(s *settings) error {
		example, err := exampleOf[T]()
		if err == nil {
			err = s.addReferences(example, func(f *referenceForm) (referenceCache, error) { return newReferences[T](f, opts) })
		}
		if err != nil {
			return fmt.Errorf("option WithReferences[%v]: %w", of, err)
		}
		return nil
	}
}

// referenceForm are the arguments of newReferences.
type referenceForm struct {
	*settings
	kind       schema.GroupVersionKind
	example    client.Object
	namespaced bool
	config     *rest.Config
	mapper     meta.RESTMapper
	live       client.Client
	transform  toolscache.TransformFunc // nil: none
	resync     time.Duration
}

// defaultResync is the resync period of controller-runtime.
const defaultResync = 10 * time.Hour

// newReferenceCache makes the cache of a kind by reference.
type newReferenceCache func(*referenceForm) (referenceCache, error)

// namedReferences is a kind of WithReferences.
type namedReferences struct {
	example client.Object
	make    newReferenceCache
}

func (s *settings) addReferences(example client.Object, of newReferenceCache) error {
	kind, err := apiutil.GVKForObject(example, s.scheme)
	if err != nil {
		return err
	}
	if s.references[kind] != nil {
		return errors.New("the kind is named twice")
	}
	if s.references == nil {
		s.references = map[schema.GroupVersionKind]*namedReferences{}
	}
	s.references[kind] = &namedReferences{example, of}
	return nil
}

// checkReferences returns an error if options exclude WithReferences of a kind.
func (s *settings) checkReferences(o *cache.Options) error {
	for kind, named := range s.references {
		if err := s.checkReference(kind, named.example, o); err != nil {
			return fmt.Errorf("option WithReferences[%T]: %w", named.example, err)
		}
	}
	return nil
}

func (s *settings) checkReference(kind schema.GroupVersionKind, example client.Object, o *cache.Options) error {
	switch {
	case s.typed[reflect.TypeOf(example)] != nil:
		return errors.New("the type is one of Typed, too: use one of the two")
	case s.followers[kind] != nil:
		return errors.New("the kind is one of WithNamespaces, too: use one of the two")
	case s.packed.kinds[kindOf{kind: kind}], s.packed.kinds[kindOf{metadataType, kind}]:
		return errors.New("the kind is one of WithPacked, too: use one of the two")
	case s.optional[kind]:
		return errors.New("the kind is Optional, too: leave that out, its Get is a request where the rights are missing")
	case o.DefaultLabelSelector != nil && !o.DefaultLabelSelector.Empty(), o.DefaultFieldSelector != nil && !o.DefaultFieldSelector.Empty():
		return errors.New("the cache selects by DefaultLabelSelector or DefaultFieldSelector: name the kinds that are selected in ByObject instead")
	}
	by, found, err := s.byObject(kind, o)
	switch {
	case err != nil:
		return err
	case found && (by.Label != nil || by.Field != nil || len(by.Namespaces) > 0):
		return errors.New("ByObject selects objects of the kind: leave Label, Field and Namespaces out, as only those that are read are watched")
	}
	return nil
}

// byObject returns the options of a kind.
func (s *settings) byObject(kind schema.GroupVersionKind, o *cache.Options) (cache.ByObject, bool, error) {
	for obj, by := range o.ByObject {
		of, err := apiutil.GVKForObject(obj, s.scheme)
		if err != nil {
			return by, false, err
		}
		if of == kind {
			return by, true, nil
		}
	}
	return cache.ByObject{}, false, nil
}

// makeReferences makes the caches of kinds by reference.
func (c *managerCache) makeReferences(config *rest.Config, o *cache.Options) error {
	if len(c.settings.references) == 0 {
		return nil
	}
	live, err := client.New(config, client.Options{HTTPClient: o.HTTPClient, Scheme: o.Scheme, Mapper: o.Mapper})
	if err != nil {
		return err
	}
	c.byName = map[schema.GroupVersionKind]referenceCache{}
	for kind, named := range c.settings.references {
		namespaced, err := apiutil.IsGVKNamespaced(kind, o.Mapper)
		if err == nil {
			by, _, _ := c.byObject(kind, o) // checked before
			if by.Transform == nil {
				by.Transform = o.DefaultTransform
			}
			c.byName[kind], err = named.make(&referenceForm{
				settings: c.settings, kind: kind, example: named.example, namespaced: namespaced, config: config, mapper: o.Mapper,
				live: live, transform: by.Transform, resync: ptr.Deref(cmp.Or(by.SyncPeriod, o.SyncPeriod), defaultResync),
			})
		}
		if err != nil {
			return fmt.Errorf("new cache: option WithReferences[%T]: %w", named.example, err)
		}
		of := kindOf{kind: kind}
		c.informers[of] = append(c.informers[of], &cachedInformer{c.byName[kind].on(), nameOf(kind, "by reference"), kind, c.host})
	}
	return nil
}

// newReferences makes the cache of a kind by reference.
func newReferences[T Object](f *referenceForm, opts []reference.Option) (*references[T], error) {
	options := append([]kube.SourceOption{kube.WithScheme(f.scheme), kube.WithRESTMapper(f.mapper)}, f.fieldsOf(f.example, f.kind)...)
	if f.writes != nil {
		options = append(options, kube.WithWrites(f.writes))
	}
	if !f.sharing {
		options = append(options, kube.WithoutDeduplication())
	}
	named := []typed.Option{typed.WithName(nameOf(f.kind, "by reference"))}
	if f.transform != nil {
		named = append(named, typed.WithTransform(adapters.Transform[T](f.transform)))
	}
	r := &references[T]{referenceForm: f, requested: map[index.Key]time.Time{}, absent: map[index.Key]*time.Timer{}}
	r.source = reference.NewSource[index.Key](func(key index.Key) source.Source[T] {
		return kube.FromREST[T](f.config, append(options[:len(options):len(options)], kube.WithName(key))...)
	}, append([]reference.Option{reference.WithIdle(math.MaxInt64)}, opts...)...)
	r.informer = typed.NewInformer(r.source, named...)
	return r, errors.Join(r.source.Hold(index.Key{}), r.informer.Err()) // of arguments
}
