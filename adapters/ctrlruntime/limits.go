package ctrlruntime

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// limits are the namespaces in which controller-runtime's cache lists kinds, all of them by "";
// those of an empty kind are the default.
type limits map[schema.GroupVersionKind][]string

// limitsOf returns the limits that the options of a cache set. An object without a known kind sets
// none: controller-runtime's cache returns an error for it.
func limitsOf(o *cache.Options, scheme *runtime.Scheme) limits {
	l := limits{{}: namespacesIn(o.DefaultNamespaces, o.DefaultFieldSelector)}
	for obj, by := range o.ByObject {
		kind, err := apiutil.GVKForObject(obj, scheme)
		if err != nil {
			continue
		}
		namespaces := by.Namespaces
		if namespaces == nil {
			namespaces = o.DefaultNamespaces
		}
		l[kind] = namespacesIn(namespaces, by.Field, o.DefaultNamespaces[cache.AllNamespaces].FieldSelector, o.DefaultFieldSelector)
	}
	return l
}

// of returns the namespaces of a kind whose objects are in any.
func (l limits) of(kind schema.GroupVersionKind) []string { return ofKind(l, kind) }

// ofKind returns the value of a kind, or the default, which is that of an empty kind.
func ofKind[V any](values map[schema.GroupVersionKind]V, kind schema.GroupVersionKind) V {
	if value, ok := values[kind]; ok {
		return value
	}
	return values[schema.GroupVersionKind{}]
}

// namespacesIn returns the namespaces of options. All of them are the one that a selector
// requires, if it does; the first selector that is not nil counts.
func namespacesIn(options map[string]cache.Config, selectors ...fields.Selector) (namespaces []string) {
	if len(options) == 0 {
		options = map[string]cache.Config{cache.AllNamespaces: {}}
	}
	for namespace, config := range options {
		if namespace == cache.AllNamespaces {
			namespace = required(append([]fields.Selector{config.FieldSelector}, selectors...))
		}
		namespaces = append(namespaces, namespace)
	}
	slices.Sort(namespaces)
	return namespaces
}

// required returns the namespace that the first selector requires, "" if it does not.
func required(selectors []fields.Selector) string {
	of := cmp.Or(selectors...)
	if of == nil {
		return metav1.NamespaceAll
	}
	namespace, _ := of.RequiresExactMatch("metadata.namespace")
	return namespace
}
