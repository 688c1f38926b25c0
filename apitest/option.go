package apitest

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/internal/argument"
)

const defaultHistory = 50_000

// defaultBookmark returns the interval of bookmarks: in a bubble it is that of real
// servers, elsewhere tests would wait too long for them.
func defaultBookmark() time.Duration {
	if here().id != 0 {
		return time.Minute
	}
	return time.Second
}

// Option changes what NewServer makes. An invalid option is an error of
// NewServer.
type Option func(*settings) error

// setting returns an option that is always valid.
func setting(set func(*settings)) Option {
	return func(s *settings) error {
		set(s)
		return nil
	}
}

type settings struct {
	scheme     *runtime.Scheme
	resources  []Resource
	fields     map[schema.GroupVersionResource]map[string]FieldFunc
	history    int
	bookmark   time.Duration
	watchList  bool
	collects   bool // garbage
	lifecycle  bool // of namespaces
	admissions []admission
	logger     klog.Logger
	objects    []Object // to begin with
	random     *randomness
}

func newSettings(opts []Option) (*settings, error) {
	s := &settings{
		scheme:    scheme.Scheme,
		fields:    map[schema.GroupVersionResource]map[string]FieldFunc{},
		history:   defaultHistory,
		bookmark:  defaultBookmark(),
		watchList: true,
		logger:    klog.Background(),
	}
	return s, argument.ApplyOptions(s, opts)
}

// WithScheme serves the kinds of scheme instead of those of client-go: each kind
// with object metadata and a list kind, under its usual plural, namespaced
// unless it is known to be cluster scoped. The server reads the scheme while it
// runs; it must not be changed.
func WithScheme(scheme *runtime.Scheme) Option {
	return func(s *settings) error {
		if scheme == nil {
			return errors.New("WithScheme: scheme is nil")
		}
		s.scheme = scheme
		return nil
	}
}

// WithResources serves more resources, or describes resources of the scheme
// better than the server's guess. Options add up.
func WithResources(resources ...Resource) Option {
	return setting(func(s *settings) { s.resources = append(s.resources, resources...) })
}

// WithFieldSelector lets field selectors of a resource use a label, besides
// those it has already.
func WithFieldSelector(resource schema.GroupVersionResource, label string, value FieldFunc) Option {
	return func(s *settings) error {
		if label == "" || value == nil {
			return fmt.Errorf("field selector %q of %s has no label or no function", label, resource)
		}
		if s.fields[resource] == nil {
			s.fields[resource] = map[string]FieldFunc{}
		}
		s.fields[resource][label] = value
		return nil
	}
}

// WithObjects makes the server begin with objects, stored as by Create; an error of that is
// one of NewServer. Options add up.
func WithObjects(objs ...Object) Option {
	return setting(func(s *settings) { s.objects = append(s.objects, objs...) })
}

// WithHistory keeps at least events/2 and at most events writes of each resource
// for watches and for lists at an older version; 50,000 by default. Older
// writes are compacted, as by Compact.
func WithHistory(events int) Option {
	return func(s *settings) error {
		if events < 2 {
			return fmt.Errorf("a history of %d events is too short", events)
		}
		s.history = events
		return nil
	}
}

// WithBookmarks sends bookmarks at the interval, by default one second, and in a bubble one
// minute, to watches that allow them; 0 sends none but the one that ends initial events and
// those that a Fault sends.
func WithBookmarks(interval time.Duration) Option {
	return func(s *settings) error {
		if interval < 0 {
			return fmt.Errorf("the bookmark interval is %s", interval)
		}
		s.bookmark = interval
		return nil
	}
}

// WithoutWatchList serves as a server does whose WatchList feature is off: it
// refuses sendInitialEvents with 422 Invalid.
func WithoutWatchList() Option {
	return setting(func(s *settings) { s.watchList = false })
}

// WithGarbageCollection deletes objects whose owners are gone, as the garbage collector
// of Kubernetes does in a cluster: in the background, or in the foreground, where an
// owner goes after those dependents that block its deletion, or not at all, where
// dependents lose the owner instead. See propagationPolicy of deletes. Without it, as
// with an API server alone, finalizers that such deletes add stay.
//
// Garbage is collected soon after a write, and takes no time of a bubble: wait for it
// with synctest.Wait. Owners of a kind that is not served are taken to exist. What
// cannot be deleted is tried again every second.
func WithGarbageCollection() Option {
	return setting(func(s *settings) { s.collects = true })
}

// WithNamespaceLifecycle makes namespaces live and die as in a cluster. Creating an object in
// one that does not exist is refused with 404, and in one that is being deleted with 403 and the
// cause NamespaceTerminating. A namespace that is deleted is Terminating until all that was in
// it is gone, which the server deletes as the namespace controller of Kubernetes does, and
// until the finalizers of its spec are: it removes "kubernetes" by itself, others are removed
// by the subresource finalize. The namespaces default, kube-system and kube-public cannot be
// deleted; they and kube-node-lease exist from the beginning. The status of a namespace has no
// conditions.
//
// An object that is stored without HTTP needs no namespace. Without the option, none does.
func WithNamespaceLifecycle() Option {
	return setting(func(s *settings) { s.lifecycle = true })
}

// WithLogger logs requests (at verbosity 4) and failures to the logger, klog's
// by default.
func WithLogger(logger klog.Logger) Option {
	return setting(func(s *settings) { s.logger = logger })
}
