package ctrlruntime

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/adapters/internal/listwatch"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// NewCache returns a function that makes a manager's cache, which keeps its objects in this
// project's informers, for each kind and each namespace: those of the manager's client and
// of controllers' watches.
//
//	options.NewCache = ctrlruntime.NewCache() // then ctrl.NewManager(config, options)
//
// The cache is controller-runtime's otherwise: requests, errors and all options of the cache
// mean what they do there, and reads return copies. Responses are decoded by this project,
// except for types that are registered with several kinds or have their own way to be decoded.
// Without deduplication, objects share only strings, which no program can modify. client-go's
// metric of the size of responses counts lists without their objects then. Streamed lists end,
// whatever the server makes of them, see kube.GuardListerWatcher; they are not asked for where
// EnableWatchBookmarks is false, as without bookmarks they do not end.
//
// A kind that the server does not have keeps no manager from starting, nor from becoming
// ready, wherever it is named: For, Owns, Watches, IndexField, ByObject. Its informer waits,
// counts as synced meanwhile, and
//
//  1. begins when the server has the kind: within a second after a CustomResourceDefinition
//     has changed, if the program may watch those, and otherwise within ten;
//  2. reports deletions, and waits again, when the kind has gone: if discovery, which
//     succeeds, does not have it, twice. While discovery fails, nothing is deleted. That is
//     so, too, for kinds that the server has had from the start.
//
// Get and List of a kind that the server does not have return a *meta.NoKindMatchError.
// Waiting returns such kinds.
//
// List with a selector of labels, and IndexField for the field that it names, are an error if
// ForKind or ForAllKinds leave that out: they would find nothing. Functions that extract
// values, and handlers of owners, see objects without the field.
//
// The function that it returns returns an error if NewInformer is set, or an option
// cannot be used.
func NewCache(opts ...CacheOption) cache.NewCacheFunc {
	return func(config *rest.Config, o cache.Options) (cache.Cache, error) {
		c := &managerCache{
			settings:      &settings{kinds: map[kindOf][]kube.SourceOption{}, typed: map[reflect.Type]newTypedInformer{}, optional: map[schema.GroupVersionKind]bool{}},
			later:         map[schema.GroupVersionKind]map[client.Object]cache.ByObject{},
			wake:          make(chan struct{}, 1),
			deferred:      map[kindOf]*deferredInformer{},
			caches:        map[schema.GroupVersionKind]*laterCache{},
			informers:     map[kindOf][]*cachedInformer{},
			packedReaders: map[kindOf][]*packedReader{},
			gates:         map[kindOf][]*gate{},
			suspects:      map[schema.GroupVersionKind]time.Time{},
			gone:          map[schema.GroupVersionKind]error{},
		}
		if err := c.configure(config, &o, opts); err != nil {
			return nil, fmt.Errorf("new cache: %w", err)
		}
		return c, c.make(config, o)
	}
}

// make makes the caches, apart from those of kinds that the server does not have.
func (c *managerCache) make(config *rest.Config, o cache.Options) (err error) {
	o.NewInformer = c.newInformer
	if server, _, err := rest.DefaultServerUrlFor(config); err == nil {
		c.host = strings.TrimSuffix(server.Host+server.Path, "/")
	}
	if c.discover, err = newDiscoverer(config, o.HTTPClient); err != nil {
		return err
	}
	if o.Mapper == nil {
		if o.Mapper, err = apiutil.NewDynamicRESTMapper(config, o.HTTPClient); err != nil {
			return err
		}
	}
	c.mapper = o.Mapper
	c.limits = limitsOf(&o, o.Scheme)
	if err := c.checkExamples(); err != nil {
		return fmt.Errorf("new cache: %w", err)
	}
	if err := c.makeReferences(config, &o); err != nil {
		return err
	}
	c.newCache = func(with map[client.Object]cache.ByObject) (cache.Cache, error) {
		own := o
		own.ByObject = with
		return cache.New(config, own)
	}
	now := maps.Clone(o.ByObject)
	for obj, by := range o.ByObject {
		if _, err := apiutil.IsObjectNamespaced(obj, o.Scheme, o.Mapper); isNotServed(err) {
			kind, err := apiutil.GVKForObject(obj, o.Scheme)
			if err != nil {
				return err
			}
			c.later[kind] = map[client.Object]cache.ByObject{obj: by}
			delete(now, obj)
		}
	}
	c.Cache, err = c.newCache(now)
	return err
}

// CacheOption sets up a cache, see NewCache.
type CacheOption func(*settings) error

// WithDeduplication deduplicates parts of objects of all kinds, typed and unstructured ones and
// their metadata alone, which takes a good deal less memory.
//
//  1. A program that uses it modifies copies only, as every program must: no objects in event
//     handlers, predicates and index functions, and none that it reads with
//     UnsafeDisableDeepCopy. A write to one object changes others as well.
//  2. Objects with a transform share nothing, since that may modify them. In the place of
//     cache.TransformStripManagedFields, have the managed fields not decoded at all, see
//     ForAllKinds.
//  3. Where nothing can be shared, the log says so with V(2), when the informer starts:
//     of a type that is registered with several kinds, and of one with its own way
//     to be decoded.
func WithDeduplication() CacheOption {
	return func(s *settings) error {
		s.sharing = true
		return nil
	}
}

// ForAllKinds limits the fields of "metadata" of all kinds, with kube.WithoutFields or
// kube.WithFields:
//
//	ctrlruntime.ForAllKinds(kube.WithoutFields("metadata.managedFields"))
//
// It is not for the kinds that ForKind names.
func ForAllKinds(fields kube.SourceOption) CacheOption {
	return func(s *settings) error {
		s.all = append(s.all, fields)
		if err := check(&metav1.PartialObjectMetadata{}, schema.GroupVersionKind{}, s.all); err != nil {
			return fmt.Errorf("ForAllKinds: %w", err)
		}
		return nil
	}
}

// ForKind makes objects have some of their fields alone, by kube.WithFields or
// kube.WithoutFields; those of the kind and Go type of an example, typed or unstructured:
//
//	ctrlruntime.ForKind(&corev1.Pod{}, kube.WithFields("metadata.labels", "spec.nodeName"))
//
// An update with such an object removes the omitted fields on the server: write patches.
func ForKind(example client.Object, fields kube.SourceOption) CacheOption {
	return func(s *settings) error {
		kind, err := s.kindOfExample("ForKind", example)
		if err != nil {
			return err
		}
		if err := check(example, kind, []kube.SourceOption{fields}); err != nil {
			return fmt.Errorf("ForKind: %w", err)
		}
		of := kindOf{reflect.TypeOf(example), kind}
		if s.kinds[of] != nil {
			return fmt.Errorf("ForKind: %v of the kind %s is named twice", of.of, kind)
		}
		s.kinds[of] = []kube.SourceOption{fields}
		return nil
	}
}

// Optional makes a kind, that of an example, one that the program may do without: while its
// objects may not be listed, as the answer 403 says, it counts as one that the server does not
// have. If the cache is limited to some namespaces, it has to be allowed to list the objects in
// each of them. Waiting returns the kind, Get and List return the error of the server, and the
// informer begins within ten seconds of when the right is there. Of other kinds, such an answer
// keeps the manager from starting, as it does without NewCache. An informer that has listed its
// objects keeps them.
func Optional(examples ...client.Object) CacheOption {
	return func(s *settings) error {
		for _, example := range examples {
			kind, err := s.kindOfExample("Optional", example)
			if err != nil {
				return err
			}
			s.optional[kind] = true
		}
		return nil
	}
}

// kindOfExample returns the kind of an example that an option names.
func (s *settings) kindOfExample(option string, example client.Object) (kind schema.GroupVersionKind, err error) {
	if example == nil {
		return kind, fmt.Errorf("%s: the example is nil", option)
	}
	if kind, err = apiutil.GVKForObject(example, s.scheme); err != nil {
		err = fmt.Errorf("%s: %w", option, err)
	}
	return kind, err
}

// kindOf is what a cache has one informer of.
type kindOf struct {
	of   reflect.Type
	kind schema.GroupVersionKind
}

// settings make the informers of a cache.
type settings struct {
	scheme  *runtime.Scheme
	sharing bool
	writes  *kube.Writes
	all     []kube.SourceOption
	kinds   map[kindOf][]kube.SourceOption
	typed   map[reflect.Type]newTypedInformer

	optional map[schema.GroupVersionKind]bool
	packed   packedKinds

	namespaces *source.Namespaces                        // nil: none is followed
	followers  map[schema.GroupVersionKind]client.Object // that follow them; none: all
	deletions  bool                                      // of namespaces that leave
	mapper     meta.RESTMapper                           // set before there are informers

	references map[schema.GroupVersionKind]*namedReferences // nil: none
}

// configure sets up the options of a cache.
func (s *settings) configure(config *rest.Config, o *cache.Options, opts []CacheOption) error {
	switch {
	case config == nil:
		return errors.New("configuration is nil")
	case o.NewInformer != nil:
		return errors.New("NewInformer is set already, and there can be one only: leave it nil, or leave NewCache out")
	}
	if o.Scheme == nil {
		o.Scheme = scheme.Scheme
	}
	s.scheme = o.Scheme
	for _, opt := range opts {
		if opt == nil {
			return errors.New("option is nil")
		}
		if err := opt(s); err != nil {
			return err
		}
	}
	if err := errors.Join(s.checkNamespaces(o), s.checkReferences(o)); err != nil {
		return err
	}
	if err := s.checkPacked(o); err != nil {
		return err
	}
	if o.HTTPClient == nil {
		own := rest.CopyConfig(config)
		if own.UserAgent == "" {
			own.UserAgent = rest.DefaultKubernetesUserAgent()
		}
		var err error
		if o.HTTPClient, err = rest.HTTPClientFor(own); err != nil {
			return err
		}
	}
	httpClient := *o.HTTPClient
	httpClient.Transport = kube.DecodingTransport(httpClient.Transport)
	if s.namespaces != nil {
		httpClient.Transport = namespaceTransport{httpClient.Transport}
	}
	o.HTTPClient = &httpClient
	return nil
}

// newInformer is the NewInformer of a cache.
func (c *managerCache) newInformer(lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	kind, err := apiutil.GVKForObject(example, c.scheme)
	if err != nil { // registered with several
		kind = schema.GroupVersionKind{Kind: reflect.TypeOf(example).String()}
		informer := c.settings.newInformer(lw, example, schema.GroupVersionKind{}, resync, indexers)
		c.addInformer(kindOf{kind: kind}, informer)
		return informer
	}
	of, own := c.formOf(example, kind), &gate{of: lw, missed: func(err error) { c.missed(kind, err) }}
	c.addGate(of, own)
	informer := c.settings.newInformer(own.listerWatcher(), example, kind, resync, indexers)
	c.addInformer(of, informer)
	if c.packs(example, kind) {
		c.addPacked(of, informer)
	}
	return informer
}

// addGate adds the gate of an informer.
func (c *managerCache) addGate(of kindOf, g *gate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g.closed = c.gone[of.kind] != nil
	c.gates[of] = append(c.gates[of], g)
}

// newInformer returns an informer of a kind.
func (s *settings) newInformer(lw toolscache.ListerWatcher, example runtime.Object, kind schema.GroupVersionKind, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	fields := s.fieldsOf(example, kind)
	writing, packs := s.writing(example, kind, fields), s.packs(example, kind)
	decode := func(lw toolscache.ListerWatcher) toolscache.ListerWatcher {
		if packs {
			lw = listwatch.NewPacking(lw, example, kind, schema.GroupVersionResource{})
		} else {
			lw = listwatch.NewDecoding(lw, example, kind, s.sharing, fields...)
		}
		return writing(lw)
	}
	spaces := s.spacesOf(kind)
	if spaces != nil {
		spaces.Packed = packs
	}
	decoding := listwatch.InNamespaces(spaces, "", func(namespace string) toolscache.ListerWatcher {
		if namespace == "" {
			return decode(lw)
		}
		return decode(inNamespace(lw, namespace))
	})
	if typed := s.typed[reflect.TypeOf(example)]; typed != nil {
		return typed(decoding, toolscache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: indexers})
	}
	return adapters.NewSharedIndexInformer(decoding, example, resync, indexers)
}

// check returns an error if fields cannot be left out of objects.
func check(example runtime.Object, kind schema.GroupVersionKind, fields []kube.SourceOption) error {
	_, err := kube.NewDecodingListerWatcher(&toolscache.ListWatch{}, example, kind, nil, fields...)
	return err
}
