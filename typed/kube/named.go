package kube

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
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

var _ source.Named = (*restResource)(nil)

func _[T index.Object]() { var _ source.Named = (*reflectorSource[T])(nil) }
