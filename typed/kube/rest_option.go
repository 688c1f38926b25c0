package kube

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/internal/decode/plan"
)

// restConfig is what options set up that are for FromREST and NewWriter alone.
type restConfig struct {
	resource             schema.GroupVersionResource // zero: that of T
	namespace            string                      // "": all
	scheme               *runtime.Scheme             // nil: client-go's
	mapper               meta.RESTMapper             // nil: ask the server
	typeMeta             bool
	silence              time.Duration // of streamed lists; 0: defaultSilence
	withoutDeduplication bool
	waits                bool       // for the kind
	compressed           bool       // watches may be compressed
	mask                 *plan.Mask // nil: all fields are decoded
	fields               string     // what mask was made from
	options              []string   // the names of those that were used
}

// misplaced returns an error if options were used that are for FromREST and
// NewWriter alone.
func (c *restConfig) misplaced() error {
	if len(c.options) > 0 {
		return fmt.Errorf("%s: for FromREST alone; elsewhere it is up to the client", strings.Join(c.options, ", "))
	}
	return nil
}

// undecoded returns an error if options say how responses are received and decoded where
// client-go does that.
func (c *restConfig) undecoded() error {
	if c.compressed {
		return errors.New("WithCompressedWatches is for FromREST, and for FromClient with a client of client-go's clientset; elsewhere it is up to the client's configuration, see DisableCompression of rest.Config")
	}
	if c.mask != nil {
		return errors.New("WithFields and WithoutFields are for FromREST, and for FromClient with a client of client-go's clientset. Elsewhere client-go decodes objects: use source.Map, or typed.WithTransform")
	}
	return nil
}

// WithResource sets the resource that FromREST lists and watches, and a Writer
// writes. It is needed for types that are in no scheme, for
// *unstructured.Unstructured and for *metav1.PartialObjectMetadata.
func WithResource(resource schema.GroupVersionResource) SourceOption {
	return func(c *sourceConfig) error {
		c.rest.options = append(c.rest.options, "WithResource")
		if resource.Version == "" || resource.Resource == "" {
			return fmt.Errorf("the resource %q has no version or no name", resource)
		}
		for _, part := range []string{resource.Group, resource.Version, resource.Resource} {
			if problems := rest.IsValidPathSegmentName(part); len(problems) > 0 {
				return fmt.Errorf("the resource %q: %q %s", resource, part, strings.Join(problems, ", "))
			}
		}
		c.rest.resource = resource
		return nil
	}
}

// WithNamespace makes FromREST list and watch the objects of one namespace;
// otherwise, or with metav1.NamespaceAll, it takes those of all. A [Writer] takes
// objects and keys without a namespace for ones of that namespace, and refuses those
// of others.
func WithNamespace(namespace string) SourceOption {
	return func(c *sourceConfig) error {
		c.rest.options = append(c.rest.options, "WithNamespace")
		if problems := rest.IsValidPathSegmentName(namespace); len(problems) > 0 {
			return fmt.Errorf("the namespace %q %s", namespace, strings.Join(problems, ", "))
		}
		c.rest.namespace = namespace
		return nil
	}
}

// WithScheme sets the scheme in which FromREST and NewWriter find the kind of T; the default
// is k8s.io/client-go/kubernetes/scheme. FromREST also finds there the API type of objects
// that it decodes into your own struct. The scheme must not be changed any more.
func WithScheme(scheme *runtime.Scheme) SourceOption {
	return func(c *sourceConfig) error {
		c.rest.options = append(c.rest.options, "WithScheme")
		if scheme == nil {
			return errors.New("WithScheme: scheme is nil")
		}
		c.rest.scheme = scheme
		return nil
	}
}

// WithRESTMapper sets the mapper by which FromREST and NewWriter find the resource of a kind.
// Otherwise they request the resources of the kind's group and version from the server,
// FromREST each time that an informer starts.
func WithRESTMapper(mapper meta.RESTMapper) SourceOption {
	if argument.CheckKey(mapper) != nil {
		mapper = &struct{ meta.RESTMapper }{mapper} // which is the same one in all uses of the option
	}
	return func(c *sourceConfig) error {
		c.rest.options = append(c.rest.options, "WithRESTMapper")
		if mapper == nil {
			return errors.New("WithRESTMapper: mapper is nil")
		}
		c.rest.mapper = mapper
		return nil
	}
}

// WithWatchListTimeout sets how long FromREST waits, when no object of a streamed list has
// come, for the next one or for the bookmark that ends the list; 30 s by default. It waits
// twice as long for the response to begin. When the time is over, or the server ends the
// watch after the time it was asked for, the server counts as one without such lists, see
// GuardListerWatcher: the source reports it, and lists in the plain way from then on. Other
// informers are not affected.
func WithWatchListTimeout(timeout time.Duration) SourceOption {
	return func(c *sourceConfig) error {
		c.rest.options = append(c.rest.options, "WithWatchListTimeout")
		if timeout <= 0 {
			return fmt.Errorf("the timeout of streamed lists is %s", timeout)
		}
		c.rest.silence = timeout
		return nil
	}
}

// WithCompressedWatches lets the server compress watches, which saves traffic on a slow
// or expensive network, to half of the bytes or less, for processor time here and on
// the server. kube-apiservers compress watches that begin with a streamed list, each
// event by itself from then on, and no others.
//
// Without it, sources that receive by themselves, as FromREST and FromClient do, ask for
// watches as they are; lists that are not streamed may be compressed. Compression that
// rest.Config disables stays so for all.
func WithCompressedWatches() SourceOption {
	return func(c *sourceConfig) error {
		c.rest.compressed = true
		return nil
	}
}
