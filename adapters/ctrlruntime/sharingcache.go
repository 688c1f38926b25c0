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

// SharingCache returns a function that makes a manager's cache, which keeps its objects
// in this project's informers, as with ConfigureCache, and equal parts of them once,
// which takes a good deal less memory and time:
//
//	options.NewCache = ctrlruntime.SharingCache() // then ctrl.NewManager(config, options)
//
// Objects of all kinds are decoded by this project: typed ones, unstructured ones, and
// their metadata alone. Requests are those of controller-runtime, and all options of the
// cache mean what they do otherwise. What is read from the cache is a copy, as ever.
//
//  1. It is for programs that do not modify what is not a copy, as they must not anyway:
//     objects in event handlers, predicates and index functions, and what is read with
//     UnsafeDisableDeepCopy. Whoever modifies one object modifies others as well.
//  2. Objects with a transform share nothing, since that may modify them; and are
//     decoded as before. In the place of cache.TransformStripManagedFields, have the
//     managed fields not decoded at all, see ForAllKinds.
//  3. Where nothing can be shared, the log says so with V(2), when the informer starts: of a
//     type that is registered with several kinds, and of one that has its own way to be
//     decoded.
//  4. The size of responses, of client-go's metrics, is zero for those that are decoded
//     here.
//  5. What would find nothing, since ForKind or ForAllKinds leave a field out, is an error:
//     List with a selector of labels, and IndexField for the field that it names. Functions
//     that extract values, and handlers of owners, see objects without the field.
//
// The function that it returns returns an error if NewInformer is set, or an option
// cannot be used.
func SharingCache(opts ...CacheOption) cache.NewCacheFunc {
	return func(config *rest.Config, o cache.Options) (cache.Cache, error) {
		s := sharingCache{kinds: map[kindOf][]kube.SourceOption{}}
		err := s.configure(config, &o, opts)
		if err != nil {
			return nil, fmt.Errorf("sharing cache: %w", err)
		}
		made, err := cache.New(config, o)
		if err != nil || len(s.all) == 0 && len(s.kinds) == 0 {
			return made, err
		}
		return &maskedCache{Cache: made, of: &s}, nil
	}
}

// CacheOption sets up a SharingCache.
type CacheOption func(*sharingCache) error

// ForAllKinds makes objects of all kinds have some of their fields alone, by
// kube.WithoutFields or kube.WithFields, of what is in "metadata":
//
//	ctrlruntime.ForAllKinds(kube.WithoutFields("metadata.managedFields"))
//
// It is not for the kinds that ForKind names.
func ForAllKinds(fields kube.SourceOption) CacheOption {
	return func(s *sharingCache) error {
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
	return func(s *sharingCache) error {
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

// sharingCache makes the informers of a cache.
type sharingCache struct {
	scheme *runtime.Scheme
	all    []kube.SourceOption
	kinds  map[kindOf][]kube.SourceOption
}

// configure sets up the options of a cache.
func (s *sharingCache) configure(config *rest.Config, o *cache.Options, opts []CacheOption) error {
	switch {
	case config == nil:
		return errors.New("configuration is nil")
	case o.NewInformer != nil:
		return errors.New("NewInformer is set already, and there can be one only: leave it nil, or leave SharingCache out")
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
func (s *sharingCache) newInformer(lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	kind, err := apiutil.GVKForObject(example, s.scheme)
	if err != nil {
		kind = schema.GroupVersionKind{} // registered with several
	}
	return adapters.NewSharedIndexInformer(listwatch.NewDecoding(lw, example, kind, s.fieldsOf(example, kind)...), example, resync, indexers)
}

// check returns an error if fields cannot be left out of objects.
func check(example runtime.Object, kind schema.GroupVersionKind, fields []kube.SourceOption) error {
	_, err := kube.NewDecodingListerWatcher(&toolscache.ListWatch{}, example, kind, nil, fields...)
	return err
}
