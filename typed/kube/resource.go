package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
)

// resource is what FromREST lists and watches, and a Writer writes.
type resource struct {
	schema.GroupVersionResource
	kind schema.GroupVersionKind // of the objects; zero: not known
}

// String returns the resource as kubectl has it, such as deployments.v1.apps.
func (r resource) String() string {
	if r.Group == "" {
		return r.Resource
	}
	return r.Resource + "." + r.Version + "." + r.Group
}

// path returns the URL path of the objects of a namespace, or of all of them.
func (r resource) path(namespace string) []string {
	path := groupVersionPath(r.GroupVersion())
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(path, r.Resource)
}

func groupVersionPath(gv schema.GroupVersion) []string {
	if gv.Group == "" {
		return []string{"/api", gv.Version}
	}
	return []string{"/apis", gv.Group, gv.Version}
}

// resourceOf returns what is known of the resource of a type without a server.
func resourceOf(of reflect.Type, c *restConfig) (resource, error) {
	known := resource{GroupVersionResource: c.resource}
	if of := kindType(of); !isOfAnyKind(of) {
		kind, err := registeredKind(c.registry(), of)
		if err != nil {
			return known, err
		}
		known.kind = kind
	}
	if c.resource.Empty() && known.kind.Empty() {
		return known, fmt.Errorf("the resource of %v is not known: it is in no scheme; use WithResource, or WithScheme", of)
	}
	return known, nil
}

// registeredKind returns the kind of a type, a pointer, zero if it is not registered.
func registeredKind(registry *runtime.Scheme, of reflect.Type) (schema.GroupVersionKind, error) {
	obj, ok := reflect.New(of.Elem()).Interface().(runtime.Object)
	if !ok {
		return schema.GroupVersionKind{}, nil
	}
	kinds, _, err := registry.ObjectKinds(obj)
	switch {
	case runtime.IsNotRegisteredError(err), len(kinds) > 1: // of several, WithResource has to say which
		return schema.GroupVersionKind{}, nil
	case err != nil:
		return schema.GroupVersionKind{}, err
	}
	return kinds[0], nil
}

// itemsOf returns the type of the objects that lists of a kind have. It returns
// false if no scheme knows the kind.
func itemsOf(registry *runtime.Scheme, list schema.GroupVersionKind) (reflect.Type, bool) {
	obj, err := registry.New(list)
	if err != nil {
		return nil, false
	}
	items, err := meta.GetItemsPtr(obj)
	if err != nil {
		return nil, true
	}
	return reflect.TypeOf(items).Elem().Elem(), true
}

// registry returns the scheme in which types are registered with their kinds.
func (c *restConfig) registry() *runtime.Scheme {
	return cmp.Or(c.scheme, scheme.Scheme)
}

// errNoSuchResource is what it is called when a server does not have what an
// informer is to watch.
var errNoSuchResource = errors.New("the server does not have it")

var (
	errClusterScoped    = errors.New("the objects have no namespace")
	errNamespaceMissing = errors.New("the key has no namespace")
)

// locate completes a resource: what it is called, and its kind if that is asked
// for.
func (r resource) locate(ctx context.Context, client rest.Interface, c *restConfig) (resource, error) {
	switch {
	case !r.Empty() && (!c.typeMeta || !r.kind.Empty()):
		return r, nil
	case c.mapper != nil && r.Empty():
		mapping, err := c.mapper.RESTMapping(r.kind.GroupKind(), r.kind.Version)
		if err != nil {
			return r, fmt.Errorf("find the resource of %s: %w", r.kind, err)
		}
		r.GroupVersionResource = mapping.Resource
		return r, nil
	case c.mapper != nil:
		kind, err := c.mapper.KindFor(r.GroupVersionResource)
		r.kind = kind
		if err != nil {
			return r, fmt.Errorf("find the kind of %s: %w", r, err)
		}
		return r, nil
	}
	found, err := r.discover(ctx, client)
	if err != nil {
		return found.resource, err
	}
	return found.resource, found.checkNamespace(c.namespace)
}

// description is what a server says of a resource.
type description struct {
	resource
	namespaced   bool
	subresources []string
}

// discover asks the server for a resource, by its name or else by its kind.
func (r resource) discover(ctx context.Context, client rest.Interface) (description, error) {
	gv := r.version()
	d := description{resource: r}
	var list metav1.APIResourceList
	if err := client.Get().AbsPath(groupVersionPath(gv)...).SetHeader("Accept", runtime.ContentTypeJSON).Do(ctx).Into(&list); err != nil {
		return d, fmt.Errorf("discover the resources of %s: %w", gv, err)
	}
	i := slices.IndexFunc(list.APIResources, func(found metav1.APIResource) bool {
		return !strings.Contains(found.Name, "/") && (found.Name == r.Resource || r.Empty() && found.Kind == r.kind.Kind)
	})
	switch {
	case i < 0 && r.Empty():
		return d, fmt.Errorf("find a resource of the kind %s in %s: %w", r.kind.Kind, gv, errNoSuchResource)
	case i < 0:
		return d, fmt.Errorf("find the resource %s in %s: %w", r.Resource, gv, errNoSuchResource)
	}
	found := list.APIResources[i]
	d.GroupVersionResource, d.kind, d.namespaced = gv.WithResource(found.Name), gv.WithKind(found.Kind), found.Namespaced
	for _, other := range list.APIResources {
		if sub, ok := strings.CutPrefix(other.Name, found.Name+"/"); ok {
			d.subresources = append(d.subresources, sub)
		}
	}
	return d, nil
}

// checkKey returns an error if there can be no object of a key: nothing but the objects of
// all namespaces would be listed for it.
func (d description) checkKey(key index.Key) error {
	switch {
	case key.Namespace != "" && !d.namespaced:
		return fmt.Errorf("%w: WithName names %s, and %s have none", errClusterScoped, key, d)
	case key.Namespace == "" && d.namespaced:
		return fmt.Errorf("%w: WithName names %s, and %s have one", errNamespaceMissing, key, d)
	}
	return nil
}

// checkNamespace returns an error if there can be no objects in a namespace.
func (d description) checkNamespace(namespace string) error {
	if namespace != "" && !d.namespaced {
		return fmt.Errorf("%w: WithNamespace names %q, and %s have none", errClusterScoped, namespace, d)
	}
	return nil
}
