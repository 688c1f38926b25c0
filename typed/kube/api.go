package kube

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/internal/decode/wire"
)

// apiOf returns the type that the objects of a resource are of on the server, if they are
// decoded into another one; nil if no scheme knows them. Schemes know kinds, of which
// the names of resources are made.
func (c *restConfig) apiOf(r resource, into reflect.Type) *wire.API {
	for _, registry := range []*runtime.Scheme{c.registry(), scheme.Scheme} {
		var found []schema.GroupVersionKind
		for kind, of := range registry.KnownTypes(r.version()) {
			one := r.version().WithKind(kind)
			if of != into && r.isOf(one) && isListed(registry, one, of) {
				found = append(found, one)
			}
		}
		if len(found) == 1 {
			return &wire.API{Type: registry.KnownTypes(r.version())[found[0].Kind], Kind: found[0]}
		}
	}
	return nil
}

// sentAs is apiOf for objects of a type, or nil.
func sentAs(of reflect.Type, c *restConfig, r resource) *wire.API {
	if isMetadata(kindType(of)) && !isMetadata(of) {
		return &wire.API{Type: reflect.TypeFor[metav1.PartialObjectMetadata](), Kind: metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata")}
	}
	return c.apiOf(r, of.Elem())
}

// version returns the version of the API that has the resource.
func (r resource) version() schema.GroupVersion {
	if r.Empty() {
		return r.kind.GroupVersion()
	}
	return r.GroupVersion()
}

// isOf reports whether the resource is what a kind is called.
func (r resource) isOf(kind schema.GroupVersionKind) bool {
	if !r.kind.Empty() {
		return r.kind == kind
	}
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return r.GroupVersionResource == plural
}

// isListed reports whether there are lists of a kind, with the name that all have.
func isListed(registry *runtime.Scheme, kind schema.GroupVersionKind, of reflect.Type) bool {
	kind.Kind += "List"
	items, ok := itemsOf(registry, kind)
	return ok && items == of
}
