package kube

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// For returns a use of the informer of what FromREST lists and watches with the
// given options:
//
//	pods, err := kube.For[*corev1.Pod](f, kube.WithNamespace("default"))
//	if err != nil {
//		return err
//	}
//	defer pods.Release()
//
// The options follow those of the factory: of two that say something else, the last counts.
// SourceOptions that say the same, in whatever order, are of the same informer. Selectors say
// the same if they are written in the same way; schemes and RESTMappers, if they are the same
// one, or of one option if they cannot be compared. Options of the informer, see
// WithInformerOptions, are for that informer alone, and follow those of the factory; all
// requests for it need the same ones, see [typed.Share]. See there also for projections, and for
// your own sources.
//
// For returns an error if the options, T or the factory's configuration cannot be
// used, or if others use the informer with other options; and typed.ErrShutDown after
// Shutdown.
func For[T index.Object](f *Factory, opts ...ForOption) (*typed.SharedInformer[T], error) {
	failed := func(err error) (*typed.SharedInformer[T], error) {
		return nil, fmt.Errorf("informer %v: %w", reflect.TypeFor[T](), err)
	}
	if f == nil {
		return failed(errors.New("factory is nil"))
	}
	all, err := collect(opts)
	if err = errors.Join(f.err, err); err != nil {
		return failed(err)
	}
	all.source = slices.Concat(f.sources, all.source)
	config, err := newSourceConfig(all.source)
	if err != nil {
		return failed(err)
	}
	var unusable error
	informer, err := typed.Share(f.Factory, config.key(), func() source.Source[T] {
		src := FromREST[T](f.config, all.source...)
		if s, ok := src.(*restSource[T]); ok && s.err != nil {
			unusable = s.err
			return nil // so that no informer is started, and none is shared with other calls
		}
		return src
	}, all.informer...)
	if unusable != nil {
		return nil, unusable
	}
	return informer, err
}

// ForOption is an option of For and NewFactory: a SourceOption, or what WithInformerOptions returns.
type ForOption interface{ addTo(*forOptions) }

// forOptions are the options of a call of For.
type forOptions struct {
	source   []SourceOption
	informer []typed.Option
}

// collect sorts options. It returns an error if one is nil.
func collect(opts []ForOption) (all forOptions, err error) {
	for _, opt := range opts {
		if opt == nil {
			return all, errors.New("option is nil")
		}
		opt.addTo(&all)
	}
	return all, nil
}

func (o SourceOption) addTo(all *forOptions) { all.source = append(all.source, o) }

// WithInformerOptions has For give options to its informer, or a factory to all:
//
//	kube.For[*corev1.Pod](f, kube.WithInformerOptions(observe.WithMetrics(m)))
func WithInformerOptions(opts ...typed.Option) ForOption { return informerOptions(opts) }

type informerOptions []typed.Option

func (o informerOptions) addTo(all *forOptions) { all.informer = append(all.informer, o...) }

// restKey distinguishes the sources of FromREST for one type. It has no String method: the
// origin of the source, and so the informer's name, contains what is of interest.
type restKey struct {
	resource             schema.GroupVersionResource
	namespace            string
	labels, fields       string
	named                bool // fields are those of WithName
	noWatchList          bool
	typeMeta             bool
	waits                bool
	withoutDeduplication bool
	compressed           bool
	decoded              string
	silence              time.Duration
	requests             requestConfig
	scheme               *runtime.Scheme
	mapper               meta.RESTMapper
	budget               *ListBudget
	writes               *Writes
}

// key returns the key of a source with the options of c.
func (c *sourceConfig) key() restKey {
	key := restKey{
		resource: c.rest.resource, namespace: c.rest.namespace, named: c.name != nil, noWatchList: c.noWatchList,
		typeMeta: c.rest.typeMeta, waits: c.rest.waits, withoutDeduplication: c.rest.withoutDeduplication, compressed: c.rest.compressed, decoded: c.rest.fields,
		silence: c.rest.silence, requests: c.requests, scheme: c.rest.scheme, mapper: c.rest.mapper, budget: c.budget, writes: c.writes,
	}
	if c.labels != nil {
		key.labels = c.labels.String()
	}
	if c.fields != nil {
		key.fields = c.fields.String()
	}
	return key
}

// Factory shares the informers of one cluster among their users. See [For] for requests, and
// [typed.Factory] for the guarantees. [typed.Share] is for your own sources.
type Factory struct {
	*typed.Factory

	config  *rest.Config
	sources []SourceOption
	err     error // what was wrong with the options
}

// NewFactory returns a factory for the cluster of a configuration, which must not be
// modified any more. All of its informers have the given options: a SourceOption, or
// what WithInformerOptions returns, see [typed.NewFactory]:
//
//	kube.NewFactory(config, kube.WithNamespace("shop"), kube.WithoutFields("metadata.managedFields"))
//
// For returns an error if one of them cannot be used.
func NewFactory(config *rest.Config, opts ...ForOption) *Factory {
	all, err := collect(opts)
	return &Factory{Factory: typed.NewFactory(all.informer...), config: config, sources: all.source, err: err}
}
