package ctrlruntime

import (
	"errors"
	"fmt"
	"reflect"
	"time"

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
)

// NewCache returns a function that makes a manager's cache, which keeps its objects in this
// project's informers, for each kind and each namespace: those of the manager's client and
// of controllers' watches.
//
//	options.NewCache = ctrlruntime.NewCache() // then ctrl.NewManager(config, options)
//
// The cache is controller-runtime's otherwise: requests, errors and all options of the cache
// mean what they do there, and what is read from it is a copy. Streamed lists end, whatever
// the server makes of them, see kube.GuardListerWatcher; they are not asked for where
// EnableWatchBookmarks is false, as without bookmarks they do not end.
//
// The function that it returns returns an error if NewInformer is set, or an option
// cannot be used.
func NewCache(opts ...CacheOption) cache.NewCacheFunc {
	return func(config *rest.Config, o cache.Options) (cache.Cache, error) {
		s := settings{kinds: map[kindOf][]kube.SourceOption{}, typed: map[reflect.Type]newTypedInformer{}}
		err := s.configure(config, &o, opts)
		if err != nil {
			return nil, fmt.Errorf("new cache: %w", err)
		}
		inner, err := cache.New(config, o)
		if err != nil {
			return nil, err
		}
		return &managerCache{Cache: inner, settings: &s}, nil
	}
}

// managerCache is the cache that NewCache makes.
type managerCache struct {
	cache.Cache
	settings *settings
}

// NeedLeaderElection tells the manager to run the cache before it is elected.
func (*managerCache) NeedLeaderElection() bool { return false }

// CacheOption sets up a cache, see NewCache.
type CacheOption func(*settings) error

// WithSharing keeps equal parts of objects once, which takes a good deal less memory and
// time. Objects of all kinds are decoded by this project then: typed ones, unstructured
// ones, and their metadata alone.
//
//  1. It is for programs that do not modify what is not a copy, as they must not anyway:
//     objects in event handlers, predicates and index functions, and what is read with
//     UnsafeDisableDeepCopy. Whoever modifies one object modifies others as well.
//  2. Objects with a transform share nothing, since that may modify them; and are
//     decoded as before. In the place of cache.TransformStripManagedFields, have the
//     managed fields not decoded at all, see ForAllKinds.
//  3. Where nothing can be shared, the log says so with V(2), when the informer starts:
//     of a type that is registered with several kinds, and of one that has a way of its
//     own to be decoded.
//  4. The size of responses, of client-go's metrics, is zero for those that are decoded
//     here.
func WithSharing() CacheOption {
	return func(s *settings) error {
		s.sharing = true
		return nil
	}
}

// ForAllKinds makes objects of all kinds have some of their fields alone, by
// kube.WithoutFields or kube.WithFields, of what is in "metadata":
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
// Whoever updates such an object on the server removes what it does not have: write
// patches.
func ForKind(example client.Object, fields kube.SourceOption) CacheOption {
	return func(s *settings) error {
		if example == nil {
			return errors.New("ForKind: the example is nil")
		}
		kind, err := apiutil.GVKForObject(example, s.scheme)
		if err == nil {
			err = check(example, kind, []kube.SourceOption{fields})
		}
		if err != nil {
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

// kindOf is what a cache has one informer of.
type kindOf struct {
	of   reflect.Type
	kind schema.GroupVersionKind
}

// settings make the informers of a cache.
type settings struct {
	scheme  *runtime.Scheme
	sharing bool
	all     []kube.SourceOption
	kinds   map[kindOf][]kube.SourceOption
	typed   map[reflect.Type]newTypedInformer
}

// configure sets up the options of a cache.
func (s *settings) configure(config *rest.Config, o *cache.Options, opts []CacheOption) error {
	switch {
	case config == nil:
		return errors.New("the configuration is nil")
	case o.NewInformer != nil:
		return errors.New("NewInformer is set already, and there can be one only: leave it nil, or leave NewCache out")
	}
	if o.Scheme == nil {
		o.Scheme = scheme.Scheme
	}
	s.scheme = o.Scheme
	for _, opt := range opts {
		if opt == nil {
			return errors.New("an option is nil")
		}
		if err := opt(s); err != nil {
			return err
		}
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
	o.HTTPClient = &httpClient
	o.NewInformer = s.newInformer
	return nil
}

// newInformer is the NewInformer of a cache.
func (s *settings) newInformer(lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	kind, err := apiutil.GVKForObject(example, s.scheme)
	if err != nil {
		kind = schema.GroupVersionKind{} // registered with several
	}
	fields, ok := s.kinds[kindOf{reflect.TypeOf(example), kind}]
	if !ok {
		fields = s.all
	}
	var decoding toolscache.ListerWatcher = lw
	if s.sharing || len(fields) > 0 {
		decoding = listwatch.NewDecoding(lw, example, kind, s.sharing, fields...)
	}
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
