package kube

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/typed/source"
)

// restResource is the resource that a restSource lists and watches. It does not depend on the type
// parameter, so that its code is compiled once, and not for each type of objects.
type restResource struct {
	sourceConfig
	of       reflect.Type   // of objects
	resource resource       // as far as it is known without the server
	host     string         // where the server is
	server   rest.Interface // makes the requests of discovery
	err      error          // what was wrong with the arguments
}

// Named implements source.Named.
func (s *restResource) Named() (index.Key, error) {
	switch {
	case s.err != nil:
		return index.Key{}, s.err
	case s.name == nil:
		return index.Key{}, errUnnamed
	case s.name.Namespace != s.rest.namespace:
		return index.Key{}, fmt.Errorf("WithName names %s, and the client is for the namespace %q", s.name, s.rest.namespace)
	}
	return *s.name, s.checkScope()
}

// Omits implements source.Partial.
func (s *restResource) Omits(field string) bool { return !s.rest.mask.Has(field) }

// kindToSet returns the kind that objects are to be given, empty for none.
func (s *restResource) kindToSet(of resource) (kind schema.GroupVersionKind) {
	if s.rest.typeMeta {
		kind = of.kind
	}
	return kind
}

// locate finds the resource. It tries again and again, as for a list, and
// returns an error only if trying again cannot help.
func (s *restResource) locate(ctx context.Context, to reporter) (resource, error) {
	between := s.requests.refused()
	for {
		found, err := s.find(ctx)
		if err == nil || ctx.Err() != nil {
			return found, nil
		}
		if errors.Is(err, errClusterScoped) || errors.Is(err, errNamespaceMissing) {
			return found, err
		}
		to.Report(&source.RequestError{Err: err})
		between.wait(ctx)
		if ctx.Err() != nil {
			return found, nil
		}
	}
}

// checkScope returns an error if there can be no object of WithName, as far as that is known
// without a server: of the kinds of client-go.
func (s *restResource) checkScope() error {
	if s.name == nil || !s.isBuiltIn() {
		return nil
	}
	of := s.resource
	if of.Empty() {
		of, _ = builtIn(s.of)
	}
	return description{resource: of, namespaced: !argument.IsClusterScoped(s.resource.kind.Group, s.resource.kind.Kind)}.checkKey(*s.name)
}

// isBuiltIn reports whether the kind is one of client-go's scheme.
func (s *restResource) isBuiltIn() bool {
	return !s.resource.kind.Empty() && scheme.Scheme.Recognizes(s.resource.kind)
}

// find finds the resource. For one object of a kind of client-go, which many sources may be
// of, it asks no server.
func (s *restResource) find(ctx context.Context) (resource, error) {
	if s.name == nil {
		return s.resource.locate(ctx, s.server, &s.rest)
	}
	if s.isBuiltIn() && s.rest.mapper == nil {
		if !s.resource.Empty() {
			return s.resource, nil
		}
		if of, ok := builtIn(s.of); ok && of.kind == s.resource.kind {
			return of, nil
		}
	}
	if s.rest.mapper != nil && s.resource.Empty() {
		mapping, err := s.rest.mapper.RESTMapping(s.resource.kind.GroupKind(), s.resource.kind.Version)
		if err != nil {
			return s.resource, fmt.Errorf("find the resource of %s: %w", s.resource.kind, err)
		}
		found := description{resource: resource{mapping.Resource, s.resource.kind}, namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace}
		return found.resource, found.checkKey(*s.name)
	}
	found, err := s.resource.discover(ctx, s.server)
	if err != nil {
		return found.resource, err
	}
	return found.resource, found.checkKey(*s.name)
}
