package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/scope"
	"github.com/kubetyped/informer/typed/source"
)

// WithName makes a source list and watch one object alone, by its name. RBAC allows that with
// resourceNames and the verbs list and watch. An object that does not exist is an empty list.
// The key has a namespace if the kind has any, and none otherwise. Labels and fields cannot
// be selected as well, and the namespace of WithNamespace or of a client must be that of the
// key. Package reference follows many objects by it.
func WithName(key index.Key) SourceOption {
	return func(c *sourceConfig) error {
		if key.Name == "" {
			return errors.New("WithName: the key has no name")
		}
		for _, part := range []string{key.Namespace, key.Name} {
			if problems := rest.IsValidPathSegmentName(part); len(problems) > 0 {
				return fmt.Errorf("WithName: %q %s", part, strings.Join(problems, ", "))
			}
		}
		c.name = &key
		return nil
	}
}

// applyName makes the one object of WithName what is selected.
func (c *sourceConfig) applyName() error {
	switch {
	case c.name == nil:
		return nil
	case c.labels != nil || c.fields != nil:
		return errors.New("WithName names one object: leave out WithLabelSelector and WithFieldSelector")
	case c.rest.namespace != "" && c.rest.namespace != c.name.Namespace:
		return fmt.Errorf("WithName names %s, and WithNamespace %q", c.name, c.rest.namespace)
	}
	c.fields = fields.OneTermEqualSelector("metadata.name", c.name.Name)
	c.rest.namespace = c.name.Namespace
	return nil
}

// errUnnamed is what a source says that is of more than one object.
var errUnnamed = errors.New("the source is not one of one object: use WithName")

// Named implements source.Named.
func (s *restSource[T]) Named() (index.Key, error) {
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

// Named implements source.Named.
func (s *reflectorSource[T]) Named() (index.Key, error) {
	switch {
	case s.err != nil:
		return index.Key{}, s.err
	case s.config.name == nil:
		return index.Key{}, errUnnamed
	case !s.origin.Kind.Empty() && s.origin.Namespace != s.config.name.Namespace:
		return index.Key{}, fmt.Errorf("WithName names %s, and the client is for the namespace %q", s.config.name, s.origin.Namespace)
	}
	return *s.config.name, nil
}

var (
	_ source.Named = (*restSource[*struct{ index.Object }])(nil)
	_ source.Named = (*reflectorSource[*struct{ index.Object }])(nil)
)

// checkScope returns an error if there can be no object of WithName, as far as that is known
// without a server: of the kinds of client-go.
func (s *restSource[T]) checkScope() error {
	if s.name == nil || !s.isBuiltIn() {
		return nil
	}
	of := s.resource
	if of.Empty() {
		of, _ = builtIn[T]()
	}
	return description{resource: of, namespaced: !scope.IsCluster(s.resource.kind.GroupKind())}.checkKey(*s.name)
}

// isBuiltIn reports whether the kind is one of client-go's scheme.
func (s *restSource[T]) isBuiltIn() bool {
	return !s.resource.kind.Empty() && scheme.Scheme.Recognizes(s.resource.kind)
}

// find finds the resource. For one object of a kind of client-go, which many sources may be
// of, it asks no server.
func (s *restSource[T]) find(ctx context.Context) (resource, error) {
	if s.name == nil {
		return s.resource.locate(ctx, s.client.requests, &s.rest)
	}
	if s.isBuiltIn() && s.rest.mapper == nil {
		if !s.resource.Empty() {
			return s.resource, nil
		}
		if of, ok := builtIn[T](); ok && of.kind == s.resource.kind {
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
	found, err := s.resource.discover(ctx, s.client.requests)
	if err != nil {
		return found.resource, err
	}
	return found.resource, found.checkKey(*s.name)
}
